import { createServer } from 'node:net'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect } from './connect.ts'
import { isOutage } from './outage.ts'

const withCode = (code: string) => Object.assign(new Error('server error'), { code })

describe('isOutage', () => {
  test.each([
    '08000',
    '08006',
    '53100',
    '53300',
    '57014',
    '57P01',
    '57P03',
    '55P03',
    '25P03',
    '25006',
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'ETIMEDOUT',
    'ENOTFOUND',
    'EAI_AGAIN',
    'ENOENT',
  ])('%s is an outage', (code) => {
    expect(isOutage(withCode(code))).toBe(true)
  })

  test.each([
    '23505',
    '23514',
    '40001',
    '40P01',
    '42601',
    '42P01',
    '22P02',
    '25P02',
    '55000',
    '25001',
    'P0001',
  ])('%s is a fault or a conflict, not an outage', (code) => {
    expect(isOutage(withCode(code))).toBe(false)
  })

  test.each([
    'Query read timeout',
    'timeout exceeded when trying to connect',
    'Connection terminated',
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'Client has encountered a connection error and is not queryable',
    'Client was closed and is not queryable',
  ])('the client message "%s" is an outage', (sentence) => {
    expect(isOutage(new Error(sentence))).toBe(true)
  })

  test.each([undefined, null, 'Query read timeout', { code: '08006' }, new Error('The Query read timeout')])(
    '%s is not an outage',
    (error) => {
      expect(isOutage(error)).toBe(false)
    },
  )

  test('an AggregateError with one outage is an outage', () => {
    expect(isOutage(new AggregateError([withCode('EINVAL'), withCode('ECONNREFUSED')]))).toBe(true)
    expect(isOutage(new AggregateError([withCode('EINVAL')]))).toBe(false)
  })

  const failureOf = async (url: string, statement: string): Promise<unknown> => {
    const db = connect({ url })
    onTestFinished(() => db.destroy())
    return sql
      .raw(statement)
      .execute(db)
      .catch((error: unknown) => error)
  }

  test('a refused connection is an outage', async () => {
    expect(isOutage(await failureOf('postgres://root@127.0.0.1:1/none', 'select 1'))).toBe(true)
  })

  test('a server that accepts the connection and does not respond is an outage', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    expect(isOutage(await failureOf(`postgres://root@127.0.0.1:${port}/none`, 'select 1'))).toBe(true)
  })

  test('a statement timeout is an outage, and an invalid statement is not', async () => {
    const database = await testDatabase()
    onTestFinished(() => database.stop())
    expect(isOutage(await failureOf(database.url, 'select pg_sleep(30)'))).toBe(true)
    expect(isOutage(await failureOf(database.url, 'select nonsense'))).toBe(false)
  })
})
