import { components } from '@market/contract/define'
import { z } from 'zod'

/** What `z.toJSONSchema` writes for the schemas of the contract. */
interface JsonSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: JsonSchema | boolean
  readonly description?: string
}

/** The TypeScript type of what a client sends (`input`) or receives (`output`). */
export const typeOf = (schema: z.ZodType, io: 'input' | 'output', indent = ''): string =>
  render(jsonOf(schema, io), indent)

/** The declarations of every named schema of the contract. */
export const namedTypes = (): string =>
  [...components]
    .map(
      ([schema, name]) =>
        `export type ${name} = ${render(jsonOf(schema as z.ZodType, 'output', true), '')}\n`,
    )
    .join('\n')

/** A comment of one line, or nothing. */
export const comment = (text: string | undefined, indent: string): string =>
  text === undefined ? '' : `${indent}/** ${text.replaceAll('*/', '* /')} */\n`

/** Every named schema but the root itself is a reference to its declaration. */
function jsonOf(schema: z.ZodType, io: 'input' | 'output', isRoot = false): JsonSchema {
  return z.toJSONSchema(schema, {
    io,
    override: ({ zodSchema, jsonSchema, path }) => {
      const name = components.get(zodSchema)
      if (name === undefined || (isRoot && path.length === 0)) return
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key as keyof typeof jsonSchema]
      jsonSchema.$ref = name
    },
  }) as JsonSchema
}

function render(schema: JsonSchema, indent: string): string {
  if (schema.$ref !== undefined) return schema.$ref
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if ('const' in schema) return JSON.stringify(schema.const)
  const branches = schema.anyOf ?? schema.oneOf
  if (branches !== undefined) return union(branches.map((one) => render(one, indent)))
  if (schema.allOf !== undefined) return schema.allOf.map((one) => render(one, indent)).join(' & ')
  return union([schema.type ?? ''].flat().map((type) => renderType(type, schema, indent)))
}

/** Each type once; `unknown` contains all others. */
const union = (types: readonly string[]): string =>
  types.includes('unknown') ? 'unknown' : [...new Set(types)].join(' | ')

function renderType(type: string, schema: JsonSchema, indent: string): string {
  if (type === 'array') return `ReadonlyArray<${render(schema.items ?? {}, indent)}>`
  if (type === 'object') return renderObject(schema, indent)
  return PRIMITIVES[type] ?? 'unknown'
}

const PRIMITIVES: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
}

function renderObject(schema: JsonSchema, indent: string): string {
  const fields = Object.entries(schema.properties ?? {})
  const others = schema.additionalProperties
  if (fields.length === 0)
    return typeof others === 'object' ? `Record<string, ${render(others, indent)}>` : 'Record<string, never>'
  const required = new Set(schema.required)
  const inner = `${indent}  `
  const lines = fields.map(([name, field]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)
    const mark = required.has(name) ? '' : '?'
    return `${comment(field.description, inner)}${inner}${key}${mark}: ${render(field, inner)}${mark && ' | undefined'}`
  })
  return `{\n${lines.join('\n')}\n${indent}}`
}
