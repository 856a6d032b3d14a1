import { evmChain } from '@market/chains/evm/evm-chain'
import type { Depth, TransferQuery } from '@market/core/ports/chain'
import { usdc } from '@market/kernel/money'
import { findPayment } from '@market/money/payments'
import { startEvmNetwork } from '@market/testing/evm-network'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  CONFIRMATIONS,
  FINALITY,
  fundedPayer,
  newAccount,
  question,
  settingsFor,
} from '../chains/evm-world.ts'
import { type NodeRelay, relayTo } from '../chains/node-relay.ts'
import { openPaymentFixture, outcome, type PaymentFixture } from './payment-fixture.ts'

const network = await startEvmNetwork({ chainId: 8453 })
const payer = await fundedPayer(network)
afterAll(() => network.stop())

const treasury = newAccount().address
let relay: NodeRelay
let fixture: PaymentFixture
beforeEach(async () => {
  relay = await relayTo(network.url)
  fixture = await openPaymentFixture(evmChain(settingsFor(network, treasury, { rpcUrls: [relay.url] })))
  await network.mine(FINALITY)
})
afterEach(() => Promise.all([fixture.stop(), relay.stop()]))

const payers = [payer.address.toLowerCase()]

/** Of a lookup that asks a node. */
const asked = { calls: expect.toSatisfy((calls: number) => calls > 0) }

/** What a lookup finds, how deep it is, and which calls of the node it takes. */
const lookUp = async (reference: string, changes: Partial<TransferQuery> = {}) => {
  const before = relay.methods().length
  let depth: Depth | null | undefined
  const found = await outcome(
    findPayment(fixture.ctx, fixture.network, question(reference, { payers, ...changes }), async (now) => {
      depth = now
    }),
  )
  const methods = relay.methods().slice(before)
  return { found, depth, calls: methods.length, methods }
}

const read = async (blocks: number): Promise<void> => {
  await network.mine(blocks)
  await fixture.watch()
}

test('findPayment: a payment in the blocks that were read costs no call, confirmed or final', async () => {
  const reference = await network.transfer(payer, treasury, 7n)
  expect(await lookUp(reference)).toMatchObject({ ...asked, depth: { confirmations: 1 } })
  await read(CONFIRMATIONS)
  const found = { reference, index: 0, amount: 7n, payer: payers[0], final: false }
  expect(await lookUp(reference)).toMatchObject({ calls: 0, found })
  expect(await lookUp(reference.toUpperCase().replace('X', 'x'))).toMatchObject({ calls: 0, found })
  await read(FINALITY)
  await fixture.decideFinality()
  expect(await lookUp(reference)).toMatchObject({ calls: 0, found: { final: true } })
})

test('findPayment: a payment that waits shows how many confirmations are seen and required, without a call', async () => {
  const reference = await network.transfer(payer, treasury, 7n)
  await read(1)
  const { found, depth, calls } = await lookUp(reference)
  expect({ found, calls }).toEqual({ found: undefined, calls: 0 })
  expect(depth).toMatchObject({ confirmations: 2, required: CONFIRMATIONS })
})

test('findPayment: the node is asked when the recorded payment does not fit', async () => {
  const reference = await network.transfer(payer, treasury, 7n)
  await read(CONFIRMATIONS)
  expect(await lookUp(reference, { minAmount: usdc(8n) })).toMatchObject({ ...asked, found: 'underpaid' })
  expect(await lookUp(reference, { payers: [newAccount().address] })).toMatchObject({ found: 'wrong_payer' })
  expect(await lookUp(reference, { notBefore: new Date(Date.now() + 60_000) })).toMatchObject({
    found: 'too_old',
  })
  // The logs do not say who sent a transaction and what it carries.
  expect(await lookUp(reference, { sentByPayer: true })).toMatchObject({ ...asked, found: { amount: 7n } })
})

test('findPayment: the node is asked about a payment whose block was replaced, until it is read again', async () => {
  const reference = await network.transfer(payer, treasury, 7n)
  await read(CONFIRMATIONS)
  expect(await lookUp(reference)).toMatchObject({ calls: 0, found: { reference } })
  await network.reorg(CONFIRMATIONS + 1)
  await read(2 * CONFIRMATIONS)
  expect(await lookUp(reference)).toMatchObject({ ...asked, found: undefined })
  expect((await fixture.states()).get(reference)).toBe('seen')
})

describe('a payment that was not read yet, where the newest blocks are read', () => {
  const RECEIPT = ['eth_blockNumber', 'eth_getTransactionReceipt']
  const DECIDED = [...RECEIPT, 'eth_getBlockByNumber']
  beforeEach(() => read(1))

  test('findPayment: its receipt shows how many confirmations are seen and required', async () => {
    const reference = await network.transfer(payer, treasury, 7n)
    expect(await lookUp(reference)).toMatchObject({
      ...{ methods: RECEIPT, found: undefined },
      depth: { confirmations: 1, required: CONFIRMATIONS },
    })
  })

  test('findPayment: it pays as soon as enough blocks confirm it, with what else decides as it is on the chain', async () => {
    const reference = await network.transfer(payer, treasury, 7n)
    await network.mine(CONFIRMATIONS - 1)
    const found = { reference, index: 0, amount: 7n, payer: payers[0], final: false }
    expect(await lookUp(reference)).toMatchObject({ methods: DECIDED, found })
    await read(1)
    const { found: recorded } = await lookUp(reference)
    expect(recorded).toMatchObject(found)
    const other = await network.transfer(payer, treasury, 7n)
    expect(await lookUp(other, { minAmount: usdc(8n) })).toMatchObject({
      methods: DECIDED,
      found: 'underpaid',
    })
    expect(await lookUp(other, { payers: [newAccount().address] })).toMatchObject({ found: 'wrong_payer' })
    expect(await lookUp(await network.transfer(payer, newAccount().address, 7n))).toMatchObject({
      found: 'no_transfer',
    })
  })

  test('findPayment: one call says that no block has it', async () => {
    expect(await lookUp(`0x${'ab'.repeat(32)}`)).toMatchObject({
      methods: RECEIPT,
      found: undefined,
      depth: null,
    })
  })

  test('findPayment: the sender and the attached data are read where they decide', async () => {
    const reference = await network.transfer(payer, treasury, 7n)
    const { methods } = await lookUp(reference, { sentByPayer: true })
    expect(methods).toContain('eth_getTransactionByHash')
  })

  test('findPayment: everything is asked when the newest blocks were not read for a while', async () => {
    const reference = await network.transfer(payer, treasury, 7n)
    fixture.clock.advance(20_000)
    const { methods } = await lookUp(reference)
    expect(methods).toContain('eth_getTransactionByHash')
  })
})
