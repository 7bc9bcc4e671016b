/** What the model can turn on: ids of section 10 of the specification, and rules of its other sections. */
export const DIFFERENCES = [
  ...['X1', 'X2', 'X3', 'X4', 'X5', 'X6', 'X7', 'X8', 'X9', 'X10', 'X11', 'X12', 'X17'],
  ...['LIMITS', 'FORM', 'METHODS', 'TARGET'],
]
export const RULES = ['exact', 'zf1']

/** The whole model under each rule, to be asked of {@link Zf1}. */
export const MODELS = RULES.map((names) => ({ names, ids: DIFFERENCES }))

/** The fields of an outcome that another has not; what it does not tell of is not compared. */
export function differing(outcome, other) {
  return Object.keys(outcome).filter(
    (field) => JSON.stringify(outcome[field]) !== JSON.stringify(other[field]),
  )
}
