import { isPromiseLike } from '../http/async.ts'
import type { HttpRequest } from '../http/request.ts'
import { clientParamsOf } from '../http/request-readers.ts'
import type { HttpResponse } from '../http/response.ts'
import { release } from '../http/retention.ts'
import { MAX_LISTED, ValidationError } from '../http/validation-error.ts'
import { type Action, checkAction, wrapAction } from './controller.ts'
import { readJson } from './json-body.ts'
import type { InferOutput, StandardResult, StandardSchemaV1 } from './standard-schema.ts'

// A key of 1 MB would be copied for each issue. Reports show only the shape of a path that is so long.
const MAX_KEY = 20_000

/** An action with a third argument: the parameters, or the JSON body, that its schema returned. */
export type ParamsAction<Params> = (
  request: HttpRequest,
  response: HttpResponse,
  params: Params,
) => ReturnType<Action>

/**
 * Validates the parameters of a request by a schema before the action runs. Invalid ones get a 400 with the issues.
 *
 * The schema validates one object of strings: the merged view of path, query string and form, without the reserved names.
 *
 * @throws {TypeError} If the action or the schema is invalid.
 */
export function withParams<Schema extends StandardSchemaV1>(
  schema: Schema,
  action: ParamsAction<InferOutput<Schema>>,
): Action {
  return withInput(schema, action, PARAMS)
}

/**
 * Validates the parameters of a request like {@link withParams}, such as in a plugin.
 *
 * @returns The value that the schema returned.
 * @throws {ValidationError} 400, with a list of the issues.
 * @throws {TypeError} If the schema is invalid.
 */
export async function validateParams<Schema extends StandardSchemaV1>(
  request: HttpRequest,
  schema: Schema,
): Promise<InferOutput<Schema>> {
  checkSchema(schema)
  return validate(request, schema, PARAMS)
}

/**
 * Validates the JSON body of a request by a schema before the action runs, like {@link withParams}. The action receives
 * the value that the schema returned.
 *
 * @throws {TypeError} If the action or the schema is invalid. The action responds 415 to another type than JSON, 413 past
 * the limit, and 400 to a body that is not JSON or, with a list of the issues, does not match the schema.
 */
export function withJson<Schema extends StandardSchemaV1>(
  schema: Schema,
  action: ParamsAction<InferOutput<Schema>>,
): Action {
  return withInput(schema, action, JSON_BODY)
}

/**
 * Reads and validates the JSON body of a request like {@link withJson}, outside an action.
 *
 * @throws {HttpError} 415, 413 or 400, as {@link withJson} describes.
 * @throws {TypeError} If the schema is invalid.
 */
export async function validateJson<Schema extends StandardSchemaV1>(
  request: HttpRequest,
  schema: Schema,
): Promise<InferOutput<Schema>> {
  checkSchema(schema)
  return validate(request, schema, JSON_BODY)
}

// Returns an action that validates its input. It is synchronous if the input and the schema are.
function withInput<Schema extends StandardSchemaV1>(
  schema: Schema,
  action: ParamsAction<InferOutput<Schema>>,
  input: Input,
): Action {
  checkAction(action)
  checkSchema(schema)
  const run: Action = function (this: unknown, request, response) {
    const params = validate(request, schema, input)
    if (!isPromiseLike(params)) return Reflect.apply(action, this, [request, response, params])
    const holder = { request, response }
    return params.then((value) => {
      const args = [holder.request, holder.response, value] as const
      release(holder)
      return Reflect.apply(action, this, args)
    }) as Promise<undefined>
  }
  return wrapAction(run, action)
}

// Without a prototype: `toString` and `__proto__` must exist only if the client sent them.
function paramsOf(request: HttpRequest): object {
  const params = Object.fromEntries(clientParamsOf(request))
  return Object.assign(Object.create(null), params)
}

// The input of a schema, and the word for one of its values in a message.
interface Input {
  readonly read: (request: HttpRequest) => unknown
  readonly subject: ValidationError['subject']
}

const PARAMS: Input = { read: paramsOf, subject: 'parameter' }
const JSON_BODY: Input = { read: readJson, subject: 'field' }

function validate<Schema extends StandardSchemaV1>(
  request: HttpRequest,
  schema: Schema,
  { read, subject }: Input,
): InferOutput<Schema> | Promise<InferOutput<Schema>> {
  type Result = StandardResult<InferOutput<Schema>>
  const check = (value: unknown): Result | Promise<Result> => schema['~standard'].validate(value)
  const input = read(request)
  const result = isPromiseLike(input) ? input.then(check) : check(input)
  const settle = (each: Result): InferOutput<Schema> => outputOf(each, subject)
  return isPromiseLike(result) ? result.then(settle) : settle(result)
}

function outputOf<Output>(
  result: StandardResult<Output>,
  subject: ValidationError['subject'],
): Output {
  if (result.issues === undefined) return result.value
  // A library may use its own kind of list.
  const issues = Array.from(result.issues)
  const listed = issues.slice(0, MAX_LISTED).map(({ path = [], message }) => {
    const keys = Array.from(path, (step) =>
      String(typeof step === 'object' ? step.key : step).slice(0, MAX_KEY),
    )
    return { path: keys.join('.'), message }
  })
  throw new ValidationError(listed, issues.length, subject)
}

function checkSchema(schema: StandardSchemaV1): void {
  if (typeof schema?.['~standard']?.validate !== 'function') {
    throw new TypeError('Expected a schema of Standard Schema v1, with "~standard"')
  }
}
