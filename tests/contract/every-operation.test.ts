import { readdirSync, readFileSync } from 'node:fs'
import { isWrite, type Operation } from '@market/contract/define'
import { statusesOf } from '@market/contract/operation-errors'
import { operationList } from '@market/contract/operations'
import { describe, expect, test } from 'vitest'

const FOLDER = new URL('./', import.meta.url)
const files = readdirSync(FOLDER).filter((file) => file.endsWith('.test.ts'))

const isSold = ({ payment }: Operation): boolean => payment?.when === 'always'

const fileOf = (operation: Operation): string =>
  isSold(operation)
    ? 'purchases.test.ts'
    : `${operation.id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.test.ts`

const textOf = (operation: Operation): string => readFileSync(new URL(fileOf(operation), FOLDER), 'utf8')

/** What `commonErrors` and `commonWriteErrors` test for every operation. */
function broughtAlong(operation: Operation): number[] {
  const takesAnyone = operation.callers.includes('anonymous')
  // Operations with an optional signature have their own tests of invalid signatures.
  const always = takesAnyone ? (operation.callers.length === 1 ? [401] : []) : [400, 401]
  if (isSold(operation)) return [401, 413, 415]
  if (operation.file) return [...always, 409, 422]
  return isWrite(operation) ? [...always, 400, 409, 413, 415, 422] : always
}

/** `contract-wide/rate-limits` shows 429 for every operation, the fault tests 503 for reads without a database. */
function leftToOthers(operation: Operation): number[] {
  const isPlainRead = !operation.callers.some(
    (kind) => kind === 'user' || kind === 'admin' || kind === 'wallet',
  )
  return !isWrite(operation) && isPlainRead ? [429, 500, 503] : [429, 500]
}

test('every file belongs to an operation', () => {
  const known = new Set(operationList.map(fileOf))
  expect(files.filter((file) => file !== 'every-operation.test.ts' && !known.has(file))).toEqual([])
})

describe.each(operationList.map((operation) => ({ operation, id: operation.id })))('$id', ({ operation }) => {
  test('has a test file that names it', () => {
    expect(files).toContain(fileOf(operation))
    if (isSold(operation)) return expect(textOf(operation)).toContain(`operations.${operation.id}`)
    expect(textOf(operation)).toContain(`operation: operations.${operation.id},`)
    expect(textOf(operation)).toContain(isWrite(operation) ? 'commonWriteErrors({' : 'commonErrors(')
  })

  test('has a test for its success and for every error that it declares', () => {
    const text = textOf(operation)
    const brought = new Set([...broughtAlong(operation), ...leftToOthers(operation)])
    if (text.includes('rejectsWithoutProvider(')) brought.add(503)
    if (text.includes('rejectsUnreadableBodies(')) brought.add(413).add(415)
    if (isWrite(operation) && !isSold(operation) && operation.worksReadOnly !== true) brought.add(503)
    const missing = [operation.status ?? 200, ...statusesOf(operation)].filter(
      (status) => !brought.has(status) && !text.includes(`test('${status}: `),
    )
    expect(missing).toEqual([])
  })
})
