import { readFileSync, writeFileSync } from 'node:fs'
import { isWrite, type Operation } from '@market/contract/define'
import { BUYER_EVENTS, EVENTS } from '@market/contract/events'
import { operationList } from '@market/contract/operations'
import { z } from 'zod'
import { comment, namedTypes, typeOf } from './schema-types.ts'

/**
 * Writes the routes and types of the SDK from the contract. The SDK needs neither the schemas nor zod then, and its types
 * read well in an editor.
 */
const HEADER = '// Written by `npm run sdk:types` from the contract. Do not change it.\n\n'

/** Operators have a program of their own. */
const isForClients = ({ callers }: Operation): boolean =>
  callers.some((kind) => kind !== 'admin' && kind !== 'admin_key')

/** Lists that continue with `cursor`. The list of events continues with `after`; the stream reads it. */
const isList = ({ input, beside }: Operation): boolean =>
  beside !== undefined && 'next_cursor' in beside.shape && 'cursor' in ((input as z.ZodObject).shape ?? {})

const clientOperations = operationList.filter(isForClients)

function routeOf(operation: Operation): string {
  const { id, method, path, purpose, file, isBare } = operation
  const entry = {
    method,
    path,
    ...(isWrite(operation) && { isWrite: true }),
    ...(isList(operation) && { isList: true }),
    ...(operation.beside && { hasMore: true }),
    ...(isBare && { isBare }),
    ...(file && { file: file.name }),
    ...(operation.callers.includes('wallet') && { purpose: purpose ?? 'session' }),
    ...(operation.cosigned && purpose && { purpose }),
  }
  return `  ${id}: ${JSON.stringify(entry)},`
}

const textOf = ({ summary, description }: Operation): string =>
  [`${summary}.`, description].filter(Boolean).join(' ')

function operationType(operation: Operation): string {
  const { id, input, output, beside, file } = operation
  const fields = [
    `    input: ${withFile(typeOf(input, 'input', '    '), file?.name)}`,
    `    data: ${typeOf(output, 'output', '    ')}`,
    ...(beside ? [`    more: ${typeOf(beside, 'output', '    ')}`] : []),
  ]
  return `${comment(textOf(operation), '  ')}  ${id}: {\n${fields.join('\n')}\n  }`
}

/** A method with its description. A mapped type would be shorter, but editors show no description of its members. */
function callOf(operation: Operation): string {
  const { id, input, file } = operation
  const { required = [] } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' })
  const mark = required.length > 0 || file ? '' : '?'
  const result = isList(operation)
    ? `Listed<Result<'${id}'>, Operations['${id}']['data'][number]>`
    : `Promise<Result<'${id}'>>`
  const description = comment(textOf(operation), '  ')
  return `${description}  ${id}(input${mark}: Operations['${id}']['input'], options?: CallOptions): ${result}`
}

const withFile = (type: string, name: string | undefined): string =>
  name === undefined
    ? type
    : type === 'Record<string, never>'
      ? `{ ${name}: Blob }`
      : `${type} & { ${name}: Blob }`

const eventTypes = (name: string, events: Readonly<Record<string, z.ZodType>>): string =>
  `export interface ${name} {\n${Object.entries(events)
    .map(([event, data]) => `  '${event}': ${typeOf(data, 'output', '  ')}`)
    .join('\n')}\n}\n`

const routes = `${HEADER}export const ROUTES = {\n${clientOperations.map(routeOf).join('\n')}\n} as const\n`

const types = `${HEADER}${namedTypes()}
/** What each operation takes and returns. */
export interface Operations {
${clientOperations.map(operationType).join('\n')}
}

/** The data of each event of an agent. */
${eventTypes('SellerEvents', EVENTS)}
/** The data of each event of a buyer. */
${eventTypes('BuyerEvents', BUYER_EVENTS)}`

const calls = `${HEADER}import type { Listed, Result } from '../calls.ts'
import type { CallOptions } from '../connection.ts'
import type { Operations } from './types.ts'

/** A method for each operation of the API. */
export interface Calls {
${clientOperations.map(callOf).join('\n')}
}
`

/** The files of `generated`. */
const FILES: Readonly<Record<string, string>> = {
  'calls.ts': calls,
  'routes.ts': routes,
  'types.ts': types,
}

const urlOf = (path: string) => new URL(`../generated/${path}`, import.meta.url)

/** The generated files that differ from those in the checkout. */
const outdatedFiles = (): string[] =>
  Object.entries(FILES).flatMap(([path, text]) => (readFileSync(urlOf(path), 'utf8') === text ? [] : [path]))

if (process.argv.includes('--check')) process.stdout.write(JSON.stringify(outdatedFiles()))
else for (const [path, text] of Object.entries(FILES)) writeFileSync(urlOf(path), text)
