import { type Operation, routesOf } from '@market/contract/define'
import { isListed } from '@market/contract/operation-errors'
import { operationList } from '@market/contract/operations'
import { expect } from 'vitest'
import { testPath } from './test-path.ts'

const ROUTES = operationList.flatMap(routesOf).map((operation) => ({
  operation,
  pattern: new RegExp(`^${operation.path.replace(/\{\w+\}/g, '[^/]+')}$`),
  parameters: operation.path.split('{').length,
}))

/** The operation that serves a path: a fixed part counts before a parameter. */
function operationAt(method: string, path: string): Operation | undefined {
  const [name = ''] = path.split('?')
  const found = ROUTES.filter(
    ({ operation, pattern }) => operation.method === method && pattern.test(name),
  ).toSorted((a, b) => a.parameters - b.parameters)
  return found[0]?.operation
}

const CONTRACT_TEST = /tests[\\/]contract[\\/]/

/** Fails a contract test whose response has a code that the entry of its operation does not list. */
export function checkCode(
  method: string,
  path: string,
  status: number,
  { code, error }: { readonly code?: string; readonly error?: string },
): void {
  if (status < 400 || !CONTRACT_TEST.test(testPath())) return
  const operation = operationAt(method, path)
  const observed = code ?? (status === 402 ? error : undefined)
  if (operation === undefined || isListed(operation, status, observed)) return
  expect.fail(
    `${operation.id} returned ${status} ${observed}, which its entry in packages/contract/src/operations does not list in errors.`,
  )
}
