export const notes: Map<string, string> = new Map([['1', 'Milk & honey']])
