import { isPromiseLike } from '../http/is-promise-like.ts'
import { clientParamsOf, type HttpRequest } from '../http/request.ts'
import type { HttpResponse } from '../http/response.ts'
import { ValidationError } from '../http/validation-error.ts'
import { type Action, checkAction, wrapAction } from './controller.ts'
import type { InferOutput, StandardResult, StandardSchemaV1 } from './standard-schema.ts'

/** An action with a third argument: the parameters that its schema returned. */
export type ParamsAction<Params> = (
  request: HttpRequest,
  response: HttpResponse,
  params: Params,
) => ReturnType<Action>

/**
 * Validates the parameters of a request by a schema before the action runs. If they are invalid, the
 * response is a 400 with a list of the issues.
 *
 * The schema is one of zod, valibot, arktype, or any other library of Standard Schema v1. It validates one
 * object of strings: the merged view of path, query string and form, without the reserved names.
 *
 * @example
 * const Article = z.object({ id: z.coerce.number().int() })
 * export const view = get(withParams(Article, (request, response, { id }) => {
 *   response.json({ id, next: id + 1 })
 * }))
 * @throws {TypeError} If the action or the schema is invalid.
 */
export function withParams<Schema extends StandardSchemaV1>(
  schema: Schema,
  action: ParamsAction<InferOutput<Schema>>,
): Action {
  checkAction(action)
  checkSchema(schema)
  const run: Action = function (this: unknown, request, response) {
    const runWith = (result: Result): ReturnType<Action> =>
      Reflect.apply(action, this, [request, response, outputOf(result)])
    const result = validate(schema, request)
    return isPromiseLike(result) ? (result.then(runWith) as Promise<undefined>) : runWith(result)
  }
  return wrapAction(run, action)
}

/**
 * Validates the parameters of a request like {@link withParams}, outside an action, such as in a plugin.
 *
 * @example
 * const { id } = await validateParams(request, z.object({ id: z.coerce.number() }))
 * @returns The value that the schema returned.
 * @throws {ValidationError} 400, with a list of the issues.
 * @throws {TypeError} If the schema is invalid.
 */
export async function validateParams<Schema extends StandardSchemaV1>(
  request: HttpRequest,
  schema: Schema,
): Promise<InferOutput<Schema>> {
  checkSchema(schema)
  return outputOf(await validate(schema, request))
}

type Result = StandardResult<unknown>

function validate(schema: StandardSchemaV1, request: HttpRequest): Result | Promise<Result> {
  const params = Object.fromEntries(clientParamsOf(request))
  // It has no prototype: `toString` and `__proto__` must exist only if the client sent them.
  return schema['~standard'].validate(Object.assign(Object.create(null), params))
}

function outputOf<Output>(result: StandardResult<Output>): Output {
  if (result.issues === undefined) return result.value
  // Does not use map(): a library may use its own kind of list.
  const issues = Array.from(result.issues, ({ path = [], message }) => {
    const keys = Array.from(path, (step) => String(typeof step === 'object' ? step.key : step))
    return { path: keys.join('.'), message }
  })
  throw new ValidationError(issues)
}

function checkSchema(schema: StandardSchemaV1): void {
  if (typeof schema?.['~standard']?.validate !== 'function') {
    throw new TypeError('Expected a schema of Standard Schema v1, with "~standard"')
  }
}
