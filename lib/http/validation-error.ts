import { HttpError, setDefaults } from './errors.ts'

/** A fault of one parameter. */
export interface ValidationIssue {
  /** The path to the invalid value, such as `id` or `filter.from`; '' for all parameters together. */
  readonly path: string
  /** The message of the schema; it may quote the value. */
  readonly message: string
}

const MAX_LISTED = 20

/**
 * A 400 with a list of issues: the parameters of a request do not match a schema.
 *
 * @example
 * throw new ValidationError([{ path: 'to', message: 'Must be later than "from"' }])
 */
export class ValidationError extends HttpError {
  /** The issues: each with its path, such as `items.0`, and a message. */
  readonly issues: readonly ValidationIssue[]

  /** @param issues The issues; the message lists the first 20 of them. */
  constructor(issues: readonly ValidationIssue[]) {
    // Lists whole messages only: scrubbing might not recognize half of a quoted value.
    const listed = issues.slice(0, MAX_LISTED).map(formatIssue)
    const more = issues.length - listed.length
    if (more > 0) listed.push(`and ${more} more`)
    super(400, `Invalid parameters: ${listed.join('; ')}`)
    this.issues = issues
  }
}

setDefaults(ValidationError, { name: 'ValidationError' })

/** Formats an issue as a line of text. */
export function formatIssue({ path, message }: ValidationIssue): string {
  // The messages of some libraries begin with the path.
  return path === '' || message.startsWith(`${path} `) ? message : `${path}: ${message}`
}
