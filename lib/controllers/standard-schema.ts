/**
 * A schema of any library that implements Standard Schema v1 (https://standardschema.dev): zod, valibot,
 * arktype and others. These are only types: no library is loaded.
 */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  /** The properties of the standard. */
  readonly '~standard': StandardProps<Input, Output>
}

// The names of these members are those of the standard, which describes them.
interface StandardProps<Input, Output> {
  readonly version: 1
  readonly vendor: string
  readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
  // Only for TypeScript: not present at run time.
  readonly types?: { readonly input: Input; readonly output: Output } | undefined
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

export interface StandardIssue {
  readonly message: string
  // The outermost key comes first.
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** The type of the value that a schema returns for valid input. */
export type InferOutput<Schema extends StandardSchemaV1> = NonNullable<
  Schema['~standard']['types']
>['output']
