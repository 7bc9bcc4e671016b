// Words of the protocol and of the language. Many values are one of them, and no secret is.
const PUBLIC_WORDS = new Set(
  [
    'file ftp http https wss get head post put patch delete options trace connect',
    'true false null undefined none default index error errors code token type name value',
    'openid email profile query keep-alive close gzip deflate chunked identity utf-8 basic bearer',
    'application audio font image multipart text video json html plain css javascript xml',
    'x-www-form-urlencoded form-data octet-stream problem+json event-stream localhost 127.0.0.1',
    'aborterror aggregateerror clientgoneerror evalerror exception httperror malformedmessageerror',
    'noactionerror nocontrollererror norouteerror rangeerror referenceerror syntaxerror thrownvalueerror',
    'timeouterror typeerror urierror validationerror',
    'array boolean buffer date function map number object promise request response set string symbol',
  ].flatMap((words) => words.split(' ')),
)

/**
 * Reports whether a text consists of public words, such as `https://` and the name of the server.
 *
 * @param more Further public words, in lower case.
 */
export function consistsOf(text: string, more: ReadonlySet<string>): boolean {
  const words = text
    .toLowerCase()
    .split(/[\s:/;,="']+/)
    .filter((word) => word !== '')
  return words.length > 0 && words.every((word) => PUBLIC_WORDS.has(word) || more.has(word))
}
