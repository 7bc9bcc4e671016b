import { HttpError } from './errors.ts'

/** What was wrong with a parameter. */
export interface ValidationIssue {
  /** The parameter, such as `id`; a part of one as `filter.from`; '' for all of them together. */
  readonly path: string
  /** What the schema says of it; it may quote the value. */
  readonly message: string
}

const MAX_LISTED = 20

/**
 * The parameters of a request are not what a schema asks for: a 400 that lists what was wrong.
 *
 * @example
 * throw new ValidationError([{ path: 'to', message: 'Must be later than "from"' }])
 */
export class ValidationError extends HttpError {
  /** What was wrong: each with the path to it, such as `items.0`, and a message. */
  readonly issues: readonly ValidationIssue[]

  static {
    this.prototype.name = 'ValidationError'
  }

  /** @param issues What was wrong; the message lists the first 20 of them. */
  constructor(issues: readonly ValidationIssue[]) {
    // Whole messages or none: of a value that is cut in two here, its scrubbing might miss a half.
    const listed = issues.slice(0, MAX_LISTED).map(formatIssue)
    const more = issues.length - listed.length
    if (more > 0) listed.push(`and ${more} more`)
    super(400, `Invalid parameters: ${listed.join('; ')}`)
    this.issues = issues
  }
}

/** An issue as a line of text. */
export function formatIssue({ path, message }: ValidationIssue): string {
  // Some libraries begin their messages with it.
  return path === '' || message.startsWith(`${path} `) ? message : `${path}: ${message}`
}
