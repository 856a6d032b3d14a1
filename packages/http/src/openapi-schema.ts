import { components } from '@market/contract/define'
import { z } from 'zod'
import type { JsonSchema } from './wire.ts'

export const namedSchemas = () =>
  Object.fromEntries(
    [...components].map(([schema, name]) => [name, jsonOf(schema as z.ZodType, 'output', true)]),
  )

/** JSON Schema in which every named schema but the root itself is a reference. */
export function jsonOf(schema: z.ZodType, io: 'input' | 'output', isRoot = false): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    override: ({ zodSchema, jsonSchema, path }) => {
      const name = components.get(zodSchema)
      if (name === undefined || (isRoot && path.length === 0)) return
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key as keyof typeof jsonSchema]
      jsonSchema.$ref = `#/components/schemas/${name}`
    },
  })
  return rest as JsonSchema
}
