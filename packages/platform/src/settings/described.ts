import type { z } from 'zod'

interface Presentation {
  /** Never printed, and empty in the example files. */
  readonly secret?: true
  /** Shown in place of the default of the schema, for values that depend on something else. */
  readonly default?: string
}

/** Adds what the configuration page and the example files say about a setting. */
export const described = <T extends z.ZodType>(schema: T, meaning: string, shown: Presentation = {}): T =>
  schema.meta({ description: meaning, ...shown })
