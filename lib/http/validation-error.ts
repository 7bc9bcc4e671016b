import { HttpError, setDefaults } from './errors.ts'

/** A fault of one parameter, or of one field of a JSON body. */
export interface ValidationIssue {
  /** The path to the invalid value, such as `id` or `filter.from`; '' for the input as a whole. */
  readonly path: string
  /** The message of the schema; it may quote the value. */
  readonly message: string
}

/** Maximum number of issues that a message lists. @internal */
export const MAX_LISTED = 20
// Length from which a report does not show a text.
const MAX_LINE = 16_384

/**
 * A 400 with a list of issues: the parameters, or the JSON body, of a request do not match a schema.
 */
export class ValidationError extends HttpError {
  /** The issues; of a schema, the first 20. */
  readonly issues: readonly ValidationIssue[]
  /** The kind of input that the issues name. */
  readonly subject: 'parameter' | 'field'

  /**
   * @param issues The issues; the message lists the first 20.
   * @param count The number of all issues, if the list has the first ones only (default its length).
   * @param subject The kind of input that each issue names (default `parameter`).
   */
  constructor(
    issues: readonly ValidationIssue[],
    count: number = issues.length,
    subject: 'parameter' | 'field' = 'parameter',
  ) {
    // Lists whole messages only: scrubbing might not recognize half of a quoted value.
    const lines = issues.slice(0, MAX_LISTED).map(formatIssue)
    const listed = lines.filter(({ length }) => length < MAX_LINE)
    const more = count - listed.length
    if (more > 0) listed.push(listed.length > 0 ? `and ${more} more` : `${more} too long to list`)
    super(400, `Invalid ${subject}s: ${listed.join('; ')}`)
    this.issues = issues
    this.subject = subject
  }
}

setDefaults(ValidationError, 'ValidationError')

/** Formats an issue as a line of text. */
export function formatIssue({ path, message }: ValidationIssue): string {
  // The messages of some libraries begin with the path.
  return path === '' || (message.startsWith(path) && message[path.length] === ' ')
    ? message
    : `${path}: ${message}`
}
