/** The text of the error page for a status. Its readers do not know HTTP. */
export type VisitorText = readonly [heading: string, advice: string]

const TEXTS: Readonly<Record<number, VisitorText>> = {
  400: ['The request is not valid', 'Check the address, or what you typed into the form.'],
  401: ['Sign in first', 'This page is only for visitors who have signed in.'],
  403: ['Access denied', 'You do not have permission to open this page.'],
  404: ['Page not found', 'There is no page at this address. Check the address for typing errors.'],
  405: ['This does not work here', 'Go back to the page that you came from, and try again there.'],
  408: ['The request took too long', 'Check your connection, and try again.'],
  409: [
    'The change is not possible',
    'Somebody else may have changed the page. Reload it, and try again.',
  ],
  410: ['This page was removed', 'There is no longer a page at this address.'],
  413: ['The data is too large', 'Send a shorter text or a smaller file.'],
  422: ['The data is not valid', 'Check what you typed into the form.'],
  429: ['Too many requests', 'Wait a moment, and try again.'],
  431: ['The request is too large', 'Delete the cookies of this site, and try again.'],
  503: ['The service is busy', 'Wait a few minutes, and try again.'],
}

const REJECTED = ['The request was rejected', 'Go back to the page that you came from.'] as const
const FAILED = [
  'Something went wrong',
  'You did nothing wrong. Try again in a few minutes.',
] as const

/** Returns the text about a status from 400 to 599. */
export function visitorText(status: number): VisitorText {
  return TEXTS[status] ?? (status < 500 ? REJECTED : FAILED)
}
