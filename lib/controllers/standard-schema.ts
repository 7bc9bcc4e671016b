/**
 * A schema of any library that keeps to Standard Schema v1 (https://standardschema.dev): zod, valibot,
 * arktype and others. Types alone: nothing of such a library is loaded here.
 */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  /** What the library gives to others: its version of the standard, its name, and `validate`. */
  readonly '~standard': StandardProps<Input, Output>
}

interface StandardProps<Input, Output> {
  readonly version: 1
  /** Such as `zod`. */
  readonly vendor: string
  readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
  /** Never there at run time. */
  readonly types?: { readonly input: Input; readonly output: Output } | undefined
}

/** What a validation ended with: a value, or what was wrong. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

/** One thing that was wrong, and where. */
export interface StandardIssue {
  /** What is wrong, in the words of the schema's library. */
  readonly message: string
  /** Where it is wrong, from the outside in (default: the value as a whole). */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** The type of what a schema makes of valid input. */
export type InferOutput<Schema extends StandardSchemaV1> = NonNullable<
  Schema['~standard']['types']
>['output']
