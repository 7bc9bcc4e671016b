/** The differences that the model can apply: ids of section 10 of the specification, and rules of its other sections. */
export const DIFFERENCES = [
  ...['X1', 'X2', 'X3', 'X4', 'X5', 'X6', 'X7', 'X8', 'X9', 'X10', 'X11', 'X12', 'X13', 'X17'],
  ...['X19', 'X20', 'X21'],
  ...['LIMITS', 'FORM', 'METHODS', 'TARGET'],
]
export const RULES = ['exact', 'zf1']

/** The model with all differences, under each rule, as an argument of {@link Zf1.run}. */
export const MODELS = RULES.map((names) => ({ names, ids: DIFFERENCES }))

/** Returns the fields of `outcome` that differ in `other`. Fields that only `other` has are not compared. */
export function differingFields(outcome, other) {
  return Object.keys(outcome).filter(
    (field) => JSON.stringify(outcome[field]) !== JSON.stringify(other[field]),
  )
}
