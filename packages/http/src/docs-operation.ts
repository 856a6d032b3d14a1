import type { Operation } from '@market/contract/define'
import { FAILURES } from '@market/contract/errors'
import { LIMITS } from '@market/contract/limits'
import { z } from 'zod'
import { statusesOf } from './openapi-statuses.ts'
import { type JsonSchema, propertiesOf, wireOf } from './wire.ts'

const CALLERS = {
  anonymous: 'anyone',
  agent: 'agent (API key)',
  user: 'user (identity-provider access token)',
  wallet: 'wallet (signature)',
  admin_key: 'operator (key)',
  admin: 'operator (signed in)',
} as const

export function renderOperation(operation: Operation): string {
  const { max, windowSeconds } = LIMITS[operation.limit]
  const facts = [
    `Callers: ${operation.callers.map((kind) => CALLERS[kind]).join(', ')}`,
    `Limit: ${max} per ${windowSeconds} s`,
    operation.purpose && `A wallet signs <code>${escapeHtml(operation.purpose)}</code>`,
  ].filter(Boolean)
  return `<article id="${operation.id}">
<h3><span class="method">${operation.method}</span> <code>${escapeHtml(operation.path)}</code></h3>
<p>${inlineMarkup(operation.summary)}. ${inlineMarkup(operation.description ?? '')}</p>
<p class="facts">${facts.join(' · ')}</p>
${renderInput(operation)}
<h4>Response ${operation.status ?? 200}</h4>
<pre>${escapeHtml(renderShape(jsonOf(operation.output, 'output')))}</pre>
<details><summary>Errors</summary><ul>${statusesOf(operation)
    .map((status) => `<li><b>${status}</b> ${escapeHtml(FAILURES[status])}</li>`)
    .join('')}</ul></details>
</article>`
}

function renderInput(operation: Operation): string {
  const schema = jsonOf(operation.input, 'input')
  const file = operation.file && [
    operation.file.name,
    { type: 'file', description: operation.file.description },
  ]
  const rows = [...Object.entries(propertiesOf(schema)), ...(file ? [file as [string, JsonSchema]] : [])]
  if (rows.length === 0) return ''
  const wire = wireOf(operation)
  const bodyName = file ? 'form' : 'body'
  const placeOf = (name: string) => (wire.path.includes(name) ? 'path' : wire.hasBody ? bodyName : 'query')
  const required = new Set([...(schema.required ?? []), ...(operation.file ? [operation.file.name] : [])])
  const cells = rows.map(
    ([name, field]) =>
      `<tr><td><code>${name}</code>${required.has(name) ? ' *' : ''}</td><td>${placeOf(name)}</td><td>${escapeHtml(
        renderType(field),
      )}</td><td>${inlineMarkup(String(field['description'] ?? ''))}</td></tr>`,
  )
  return `<table><tr><th>Field</th><th>In</th><th>Type</th><th></th></tr>${cells.join('')}</table>`
}

const jsonOf = (schema: z.ZodType, io: 'input' | 'output') => z.toJSONSchema(schema, { io }) as JsonSchema

function renderType(schema: JsonSchema): string {
  const choices = schema['enum']
  if (Array.isArray(choices)) return choices.join(' | ')
  if ('const' in schema) return JSON.stringify(schema['const'])
  const branches = schema.anyOf ?? schema.oneOf
  if (branches !== undefined) return branches.map(renderType).join(' | ')
  if (schema.type === 'array') return `${renderType((schema['items'] ?? {}) as JsonSchema)}[]`
  const { minLength, maxLength, minimum, maximum } = schema as Record<string, unknown>
  const low = minLength ?? minimum
  const high = maxLength ?? maximum
  const isBounded = typeof high === 'number' && high < 1e15
  return `${[schema.type ?? 'any'].flat().join(' | ')}${isBounded ? ` ${low ?? 0}–${high}` : ''}`
}

function renderShape(schema: JsonSchema, indent = ''): string {
  if (schema.type === 'array') return `[${renderShape((schema['items'] ?? {}) as JsonSchema, indent)}, …]`
  const fields = Object.entries(schema.properties ?? {})
  if (fields.length === 0) return renderType(schema)
  const inner = fields.map(([name, field]) => `${indent}  ${name}: ${renderShape(field, `${indent}  `)}`)
  return `{\n${inner.join('\n')}\n${indent}}`
}

/** Text between backticks is rendered as code. */
const inlineMarkup = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '')
