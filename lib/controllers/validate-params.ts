import { isPromiseLike } from '../http/is-promise-like.ts'
import { clientParamsOf, type HttpRequest } from '../http/request.ts'
import type { HttpResponse } from '../http/response.ts'
import { ValidationError, type ValidationIssue } from '../http/validation-error.ts'
import { type Action, checkAction, wrapAction } from './controller.ts'
import type {
  InferOutput,
  StandardIssue,
  StandardResult,
  StandardSchemaV1,
} from './standard-schema.ts'

/** An action that is handed the parameters as its schema has made them. */
export type ParamsAction<Params> = (
  request: HttpRequest,
  response: HttpResponse,
  params: Params,
) => ReturnType<Action>

/**
 * The action, for requests whose parameters are as a schema asks; others are a 400 with the list of what
 * was wrong. The schema (zod, valibot, arktype, any of Standard Schema v1) is given one object of strings:
 * the merged view of path, query string and form, without the reserved names.
 *
 * @example
 * const Article = z.object({ id: z.coerce.number().int() })
 * export const view = get(withParams(Article, (request, response, { id }) => {
 *   response.json({ id, next: id + 1 })
 * }))
 * @throws {TypeError} If it is no action, or no schema.
 */
export function withParams<Schema extends StandardSchemaV1>(
  schema: Schema,
  action: ParamsAction<InferOutput<Schema>>,
): Action {
  checkAction(action)
  checkSchema(schema)
  const run = function (
    this: unknown,
    request: HttpRequest,
    response: HttpResponse,
  ): ReturnType<Action> {
    const go = (result: StandardResult<unknown>): ReturnType<Action> =>
      Reflect.apply(action, this, [request, response, outputOf(result)])
    const result = resultOf(schema, request)
    return isPromiseLike(result) ? (result.then(go) as Promise<undefined>) : go(result)
  }
  return wrapAction(run, action)
}

/**
 * The parameters of a request as a schema makes them: what {@link withParams} hands to its action, for where
 * no action begins, such as a plugin.
 *
 * @example
 * const { id } = await validateParams(request, z.object({ id: z.coerce.number() }))
 * @throws {ValidationError} 400, with the list of what was wrong.
 * @throws {TypeError} If it is no schema.
 */
export async function validateParams<Schema extends StandardSchemaV1>(
  request: HttpRequest,
  schema: Schema,
): Promise<InferOutput<Schema>> {
  checkSchema(schema)
  return outputOf(await resultOf(schema, request))
}

function resultOf(
  schema: StandardSchemaV1,
  request: HttpRequest,
): StandardResult<unknown> | Promise<StandardResult<unknown>> {
  return schema['~standard'].validate(sentBy(request))
}

// Without a prototype: whether there is a `toString` or a `__proto__`, the client alone has said.
function sentBy(request: HttpRequest): Record<string, string> {
  const sent: Record<string, string> = Object.create(null)
  for (const [name, value] of clientParamsOf(request)) sent[name] = value
  return sent
}

function outputOf<Output>(result: StandardResult<Output>): Output {
  if (result.issues !== undefined) throw new ValidationError(Array.from(result.issues, toIssue))
  return result.value
}

function toIssue({ path = [], message }: StandardIssue): ValidationIssue {
  // Not path.map(): a library's own kind of list may not be up to it.
  const keys = Array.from(path, (step) => String(typeof step === 'object' ? step.key : step))
  return { path: keys.join('.'), message }
}

function checkSchema(schema: StandardSchemaV1): void {
  if (typeof schema?.['~standard']?.validate !== 'function') {
    throw new TypeError('Expected a schema of Standard Schema v1, with "~standard"')
  }
}
