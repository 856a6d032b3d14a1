import { z } from 'zod'

type Path = readonly PropertyKey[]

/** The schemas of the field at `path`; several where an object is one of a union. */
export function schemasAt(schema: unknown, path: Path): z.ZodType[] {
  if (schema instanceof z.ZodUnion) {
    if (path.length === 0) return [schema]
    return schema.options.flatMap((option) => schemasAt(option, path))
  }
  if (schema instanceof z.ZodPipe && path.length > 0) return schemasAt(schema.in, path)
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return schemasAt(schema.unwrap(), path)
  const [key, ...rest] = path
  if (key === undefined) return schema instanceof z.ZodType ? [schema] : []
  if (schema instanceof z.ZodArray) return schemasAt(schema.element, rest)
  if (schema instanceof z.ZodObject) return schemasAt(schema.shape[String(key)], rest)
  return []
}

/** Field names of the object at `path`; of a union, those of all its options. */
export const fieldsAt = (schema: z.ZodType, path: Path): string[] => schemasAt(schema, path).flatMap(fieldsOf)

function fieldsOf(schema: unknown): string[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(fieldsOf)
  if (schema instanceof z.ZodPipe) return fieldsOf(schema.in)
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}

/** Numbers that JSON Schema writes for a whole number without a limit. */
const isLimit = (bound: unknown): bound is number =>
  typeof bound === 'number' && Math.abs(bound) < Number.MAX_SAFE_INTEGER

/** What the field at `path` accepts, such as `must be 10-500 characters`; undefined without a limit. */
export function describeLimits(schema: z.ZodType, path: Path): string | undefined {
  const [field] = schemasAt(schema, path)
  if (field === undefined) return undefined
  const json = z.toJSONSchema(field, { io: 'input', unrepresentable: 'any' })
  if (Array.isArray(json.enum)) return `must be one of ${json.enum.join(', ')}`
  switch (json.type) {
    case 'string':
      return rangeOf('must be', json.minLength, json.maxLength, ' characters')
    case 'array':
      return rangeOf('must have', json.minItems, json.maxItems, ' items')
    case 'number':
    case 'integer':
      return rangeOf('must be', json.minimum, json.maximum, '')
    default:
      return undefined
  }
}

function rangeOf(verb: string, min: unknown, max: unknown, unit: string): string | undefined {
  if (isLimit(min) && isLimit(max) && min > 0) return `${verb} ${min}-${max}${unit}`
  if (isLimit(max)) return `${verb} at most ${max}${unit}`
  return isLimit(min) ? `${verb} at least ${min}${unit}` : undefined
}
