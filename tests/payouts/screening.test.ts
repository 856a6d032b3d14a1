import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Screening } from '@market/core/ports/screening'
import { usdc } from '@market/kernel/money'
import { claimTransfer, findPayment, parsePurpose } from '@market/money/payments'
import { advanceDue, advancePayout, duePayouts, type Payout, refundTransfer } from '@market/money/payouts'
import { fileScreening } from '@market/platform/screening/file-screening'
import { httpScreening } from '@market/platform/screening/http-screening'
import { startEvmNetwork } from '@market/testing/evm-network'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { CONFIRMATIONS, FINALITY, fundedPayer, newAccount, question } from '../chains/evm-world.ts'
import { follow } from '../support/follow.ts'
import { NETWORK, type PayoutLedger, startPayoutLedger } from '../support/payout-ledger.ts'

const AMOUNT = 5_000_000n

const chain = await startEvmNetwork({ chainId: 8453 })
const folder = mkdtempSync(join(tmpdir(), 'market-screening-'))
const file = join(folder, 'addresses.txt')
afterAll(async () => {
  await chain.stop()
  rmSync(folder, { recursive: true, force: true })
})

let ledger: PayoutLedger
beforeEach(async () => {
  ledger = await startPayoutLedger(chain)
  writeFileSync(file, '')
  return ledger.stop
})

const list = (...addresses: string[]) =>
  writeFileSync(file, `# listed by a test\n${addresses.map((one) => `${one}  # why\n`).join('')}`)

async function advance(payout: Payout, ...screenings: readonly Screening[]): Promise<string> {
  await advancePayout({ ...ledger.app, screenings }, payout.id)
  const { state, hold_code, reason } = await ledger.rowOf(payout)
  return hold_code === null ? state : `${state}: ${hold_code}, ${reason}`
}

test('screened: a payout to a listed address is held and named, and is sent once the list has it no more', async () => {
  const payee = newAccount().address
  const payout = await ledger.request({ payee })
  list(payee.toUpperCase().replace('0X', '0x'))
  const held = await advance(payout, fileScreening(file))
  expect(held).toContain('held: screened')
  expect(held).toContain(payee)
  expect(await ledger.signaturesOf(payout)).toEqual([])
  list(newAccount().address)
  expect(await advance(payout, fileScreening(file))).toBe('signed')
})

test('screened: the same process reads a changed list', async () => {
  const screening = fileScreening(file)
  const payee = newAccount().address
  expect(await advance(await ledger.request({ payee }), screening)).toBe('signed')
  list(payee)
  expect(await advance(await ledger.request({ payee }), screening)).toContain('held: screened')
})

test('screened: earnings from a listed payer are held, whoever the payee is', async () => {
  const payer = await fundedPayer(chain, AMOUNT)
  const reference = await chain.transfer(payer, ledger.account.address, AMOUNT)
  await chain.mine(FINALITY)
  const seen = await findPayment(ledger.app, NETWORK, question(reference))
  if (seen === undefined) throw new Error('the transfer was not found')
  const purpose = parsePurpose(`order:${randomUUID()}`)
  await ledger.ctx.transact((tx) =>
    claimTransfer(ledger.ctx, tx, { network: NETWORK, seen, purpose, due: usdc(AMOUNT) }),
  )
  await follow(ledger.app, NETWORK)
  const earned = await ledger.request({ purpose, subject: purpose.id })
  list(payer.address)
  expect(await advance(earned, fileScreening(file))).toContain('held: screened')
})

test('payment_not_final: the payout is due as soon as its payment is final', async () => {
  const payer = await fundedPayer(chain, AMOUNT)
  const reference = await chain.transfer(payer, ledger.account.address, AMOUNT)
  await chain.mine(CONFIRMATIONS)
  const seen = await findPayment(ledger.app, NETWORK, question(reference))
  if (seen === undefined) throw new Error('the transfer was not found')
  const purpose = parsePurpose(`order:${randomUUID()}`)
  await ledger.ctx.transact((tx) =>
    claimTransfer(ledger.ctx, tx, { network: NETWORK, seen, purpose, due: usdc(AMOUNT) }),
  )
  const payout = await ledger.request({ purpose, subject: purpose.id })
  await advanceDue(ledger.app, payout.id)
  expect((await ledger.rowOf(payout)).hold_code).toBe('payment_not_final')
  expect(await duePayouts(ledger.app, NETWORK, 10)).toEqual([])
  await chain.mine(FINALITY)
  await follow(ledger.app, NETWORK)
  expect(await duePayouts(ledger.app, NETWORK, 10)).toEqual([payout.id])
})

test('screened: unmatched money is not refunded to a listed payer', async () => {
  const payer = await fundedPayer(chain, AMOUNT)
  const reference = await chain.transfer(payer, ledger.account.address, AMOUNT)
  await chain.mine(FINALITY)
  const seen = await findPayment(ledger.app, NETWORK, question(reference))
  if (seen === undefined) throw new Error('the transfer was not found')
  const purpose = parsePurpose(`order:${randomUUID()}`)
  await ledger.ctx.transact((tx) =>
    claimTransfer(ledger.ctx, tx, { network: NETWORK, seen, purpose, due: usdc(1n) }),
  )
  await follow(ledger.app, NETWORK)
  const refund = await ledger.ctx.transact((tx) =>
    refundTransfer(ledger.ctx, tx, { network: NETWORK, reference, index: 0, from: 'surplus' }),
  )
  list(payer.address)
  expect(await advance(refund, fileScreening(file))).toContain('held: screened')
})

test('screening_unavailable: without its list nothing is sent', async () => {
  const payout = await ledger.request()
  expect(await advance(payout, fileScreening(join(folder, 'missing')))).toContain('screening_unavailable')
  expect(await advance(payout, fileScreening(file))).toBe('signed')
})

test('HTTP: the service is asked with its token; every answer but a list makes payouts wait', async () => {
  const asked: unknown[] = []
  let reply: { status: number; body: string } = { status: 200, body: '{"listed":[]}' }
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString())
    asked.push({ ...body, token: request.headers.authorization })
    response.writeHead(reply.status, { location: '/elsewhere' }).end(reply.body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const screening = httpScreening({ url: `http://127.0.0.1:${port}/`, token: 'secret', timeoutMs: 30_000 })
  try {
    const payee = newAccount().address
    const payout = await ledger.request({ payee })
    for (const [status, body] of [
      [500, ''],
      [302, ''],
      [200, 'no JSON'],
      [200, '{"listed":"none"}'],
    ] as const) {
      reply = { status, body }
      expect(await advance(payout, screening)).toContain('screening_unavailable')
    }
    reply = { status: 200, body: JSON.stringify({ listed: [payee] }) }
    expect(await advance(payout, screening)).toContain('held: screened')
    reply = { status: 200, body: '{"listed":[]}' }
    expect(await advance(payout, screening)).toBe('signed')
    expect(asked.at(-1)).toEqual({ network: NETWORK, addresses: [payee], token: 'Bearer secret' })
  } finally {
    server.close()
  }
})
