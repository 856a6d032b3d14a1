import type { z } from 'zod'

export type Settings = Readonly<Record<string, z.ZodType>>

export interface Described {
  readonly name: string
  readonly meaning: string
  readonly secret: boolean
  /** The default as the page shows it, or `required`. */
  readonly shown: string
  /** The default as text of an environment; empty when there is none. */
  readonly value: string
}

interface Definition {
  readonly type: string
  readonly in?: z.ZodType
  readonly defaultValue?: unknown
}

const definitionOf = (schema: z.ZodType): Definition => schema.def as unknown as Definition

/** The value that an absent variable has; undefined when the setting is required. */
function fallbackOf(schema: z.ZodType): { readonly value: unknown } | undefined {
  const { type, in: input, defaultValue } = definitionOf(schema)
  if (type === 'default' || type === 'prefault') return { value: defaultValue }
  if (type === 'optional') return { value: '' }
  return type === 'pipe' && input !== undefined ? fallbackOf(input) : undefined
}

const textOf = (value: unknown): string =>
  typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value)

/** What the schemas say about their settings. Throws when one has no meaning. */
export const describe = (settings: Settings): Described[] =>
  Object.entries(settings).map(([name, schema]) => {
    const { description, secret, default: special } = schema.meta() ?? {}
    if (description === undefined) throw new Error(`${name} has no meaning: use described() in its schema`)
    const fallback = fallbackOf(schema)
    const value = fallback === undefined ? '' : textOf(fallback.value)
    const usual = value === '' ? 'none' : `\`${value}\``
    return {
      name,
      meaning: description,
      secret: secret === true,
      shown: fallback === undefined ? 'required' : typeof special === 'string' ? special : usual,
      value: value === '' && typeof special === 'string' ? quoted(special) : value,
    }
  })

/** A special default such as `at+jwt` is a value; "the host of each URL" is not. */
const quoted = (special: string): string => /^`([^`]+)`$/.exec(special)?.[1] ?? ''
