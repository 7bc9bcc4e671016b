/**
 * A schema of any library that implements Standard Schema v1 (https://standardschema.dev): zod, valibot,
 * arktype and others. These are only types: no library is loaded.
 */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  /** The properties of the standard: its version, the name of the library, and `validate`. */
  readonly '~standard': StandardProps<Input, Output>
}

interface StandardProps<Input, Output> {
  readonly version: 1
  /** The name of the library, such as `zod`. */
  readonly vendor: string
  readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
  /** Only for TypeScript: not present at run time. */
  readonly types?: { readonly input: Input; readonly output: Output } | undefined
}

/** The result of a validation: a value, or a list of issues. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

/** An issue of a validation. */
export interface StandardIssue {
  /** The message of the library. */
  readonly message: string
  /** The path to the invalid value, outermost key first (default: the whole value). */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** The type of the value that a schema returns for valid input. */
export type InferOutput<Schema extends StandardSchemaV1> = NonNullable<
  Schema['~standard']['types']
>['output']
