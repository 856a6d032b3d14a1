import { evmChain } from '@market/chains/evm/evm-chain'
import { TooFewProviders } from '@market/core/ports/chain'
import { ApiError } from '@market/kernel/api-error'
import { usdc } from '@market/kernel/money'
import { isPaymentFinal, parsePurpose } from '@market/money/payments'
import { startEvmNetwork } from '@market/testing/evm-network'
import { type Address, type Hex, pad, toHex } from 'viem'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CONFIRMATIONS, FINALITY, fundedPayer, newAccount, settingsFor } from '../chains/evm-world.ts'
import { type NodeRelay, type RpcCall, relayTo } from '../chains/node-relay.ts'
import { openPaymentFixture, type PaymentFixture } from './payment-fixture.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const network = await startEvmNetwork({ chainId: 8453 })
const payer = await fundedPayer(network)
afterAll(() => network.stop())

let treasury: Address
let first: NodeRelay
let second: NodeRelay
let fixture: PaymentFixture
beforeEach(async () => {
  treasury = newAccount().address
  first = await relayTo(network.url)
  second = await relayTo(network.url)
  fixture = await openPaymentFixture(chainOver([first, second]))
  await network.mine(FINALITY)
})
afterEach(() => Promise.all([fixture.stop(), first.stop(), second.stop()]))

const chainOver = (relays: readonly NodeRelay[], providers?: readonly string[]) =>
  evmChain(
    settingsFor(network, treasury, {
      rpcUrls: relays.map(({ url }) => url),
      minProviders: 2,
      cooldownMs: 0,
      ...(providers && { providers }),
    }),
  )

const host = ({ url }: NodeRelay): string => new URL(url).host

/** Too few providers decide nothing, and the worker reports it. */
const recheck = async (afterMs = 6_000) => {
  await fixture.recheck(afterMs).catch((error: unknown) => {
    if (!(error instanceof TooFewProviders || (error instanceof ApiError && error.kind === 'unavailable')))
      throw error
  })
}

/** A confirmed payment that is claimed. */
const paid = async (amount = 5n): Promise<Hex> => {
  const reference = await network.transfer(payer, treasury, amount)
  await network.mine(CONFIRMATIONS - 1)
  await fixture.claim(reference, 'order:a', { due: amount })
  return reference
}

/** A payment as it was claimed. */
const recorded = (reference: string) => ({
  reference,
  index: 0,
  block: { height: 0n, hash: '' },
  payer: payer.address.toLowerCase(),
  amount: usdc(5n),
})

const stateOf = async (reference: string) => (await fixture.states()).get(reference)

const change = (result: (call: RpcCall, result: unknown) => unknown): NodeRelay['mood'] => ({
  kind: 'change',
  result,
})

/** The node is at an earlier height: it has no newer blocks, receipts or balances. */
const behindBy = (blocks: bigint): NodeRelay['mood'] =>
  change(({ method, params }, result) => {
    if (method === 'eth_blockNumber') return toHex(BigInt(String(result)) - blocks)
    if (/Receipt|TransactionByHash/.test(method)) return null
    if (method !== 'eth_getBlockByNumber' || result === null) return result
    const block = result as { number: Hex }
    return params[0] === 'finalized' ? { ...block, number: toHex(BigInt(block.number) - blocks) } : null
  })

/** The node shows every transfer of the transaction with another amount. */
const withAmount = (amount: bigint): NodeRelay['mood'] =>
  change(({ method }, result) => {
    const data = pad(toHex(amount), { size: 32 })
    const changed = (logs: readonly object[]) => logs.map((log) => ({ ...log, data }))
    if (method === 'eth_getLogs') return changed(result as readonly object[])
    if (method !== 'eth_getTransactionReceipt' || result === null) return result
    const receipt = result as { logs: readonly object[] }
    return { ...receipt, logs: changed(receipt.logs) }
  })

/** The node shows no block with the transaction: an empty block with another hash is in its place. */
const without = (reference: Hex): NodeRelay['mood'] =>
  change(({ method, params }, result) => {
    if (/Receipt|TransactionByHash/.test(method) && params[0] === reference) return null
    if (method === 'eth_getLogs')
      return (result as readonly { transactionHash: Hex }[]).filter(
        (log) => log.transactionHash !== reference,
      )
    if (method !== 'eth_getBlockByNumber' || result === null) return result
    const block = result as { transactions: readonly Hex[] }
    const hasIt = block.transactions.includes(reference)
    return hasIt ? { ...block, hash: pad('0xbad', { size: 32 }), transactions: [] } : result
  })

describe('finality', () => {
  test('a transfer is paid when one provider shows it and final when two providers agree', async () => {
    second.mood = { kind: 'reset' }
    const reference = await paid()
    expect(await fixture.inEscrow('order:a')).toBe(5n)
    await network.mine(FINALITY)
    for (const afterMs of [6_000, DAY]) await recheck(afterMs)
    expect(await stateOf(reference)).toBe('seen order:a')
    second.mood = { kind: 'pass' }
    await recheck()
    expect(await isPaymentFinal(fixture.ctx.db, parsePurpose('order:a'))).toBe(true)
    expect(fixture.disagreements).toEqual([])
  })

  test('two nodes of one provider do not make a transfer final', async () => {
    const reference = await paid()
    await network.mine(FINALITY)
    const alone = chainOver([first, second], ['acme', 'acme'])
    expect(await alone.checkTransfer(recorded(reference))).toMatchObject({ verdict: 'open' })
    const both = chainOver([first, second], ['acme', 'other'])
    expect(await both.checkTransfer(recorded(reference))).toMatchObject({ verdict: 'final' })
  })

  test('watcher: a final block of one node does not make an unclaimed transfer final', async () => {
    const reference = await network.transfer(payer, treasury, 7n)
    await network.mine(FINALITY)
    await fixture.watch()
    expect(await stateOf(reference)).toBe('seen')
    await recheck()
    expect(await stateOf(reference)).toBe('final')
  })

  test('a transfer that only one provider shows is never final, and the disagreement names the providers', async () => {
    const reference = await paid()
    await network.mine(FINALITY)
    second.mood = without(reference)
    for (const afterMs of [6_000, HOUR, DAY]) await recheck(afterMs)
    expect(await stateOf(reference)).toBe('seen order:a')
    expect(fixture.gone).toEqual([])
    expect(fixture.disagreements[0]).toEqual({
      network: 'base-mainnet',
      providers: [host(first), host(second)].sort(),
      unexplained: 0n,
    })
  })

  test('a transfer is not final while the providers show different amounts', async () => {
    const reference = await paid()
    await network.mine(FINALITY)
    second.mood = withAmount(6n)
    await recheck()
    expect(await stateOf(reference)).toBe('seen order:a')
    expect(fixture.gone).toEqual([])
    expect(fixture.disagreements).toMatchObject([{ providers: [host(first), host(second)].sort() }])
  })

  test('a claimed amount that one node invented is reversed when two providers show another one', async () => {
    const reference = await network.transfer(payer, treasury, 5n)
    await network.mine(CONFIRMATIONS - 1)
    first.mood = withAmount(5_000n)
    await fixture.claim(reference, 'order:a', { due: 5_000n })
    expect(await fixture.inEscrow('order:a')).toBe(5_000n)
    await network.mine(FINALITY)
    await recheck()
    expect(await stateOf(reference)).toBe('seen order:a')
    first.mood = { kind: 'pass' }
    await recheck()
    expect(await fixture.inEscrow('order:a')).toBe(0n)
    expect(fixture.gone).toMatchObject([{ reference, amount: 5_000n }])
  })

  test('one provider claims finality early: the transfer stays unfinal', async () => {
    const reference = await paid()
    first.mood = change(({ method, params }, result) =>
      method === 'eth_getBlockByNumber' && params[0] === 'finalized'
        ? { ...(result as object), number: toHex(10n ** 6n) }
        : result,
    )
    for (const afterMs of [6_000, DAY]) await recheck(afterMs)
    expect(await stateOf(reference)).toBe('seen order:a')
    expect(await isPaymentFinal(fixture.ctx.db, parsePurpose('order:a'))).toBe(false)
  })

  test('a node an hour behind makes nothing final and reverses nothing', async () => {
    const reference = await paid()
    await network.mine(FINALITY)
    second.mood = behindBy(20n)
    for (const afterMs of [6_000, HOUR, DAY]) await recheck(afterMs)
    first.mood = { kind: 'reset' }
    for (const afterMs of [6_000, HOUR]) await recheck(afterMs)
    expect(await stateOf(reference)).toBe('seen order:a')
    expect(fixture.gone).toEqual([])
    first.mood = { kind: 'pass' }
    second.mood = { kind: 'pass' }
    await recheck()
    expect(await stateOf(reference)).toBe('final order:a')
  })
})

describe('reversal', () => {
  test('one provider without the block reverses nothing; two providers do', async () => {
    const reference = await paid()
    await network.mine(FINALITY)
    first.mood = without(reference)
    expect(await chainOver([first, second]).checkTransfer(recorded(reference))).toMatchObject({
      verdict: 'open',
    })
    for (const afterMs of [6_000, HOUR, DAY]) await recheck(afterMs)
    expect(fixture.gone).toEqual([])
    second.mood = without(reference)
    await recheck()
    expect(fixture.gone).toMatchObject([{ reference }])
  })

  test('a reorganization reverses only after the final chain is past the block, and time alone does not', async () => {
    const reference = await paid()
    await network.reorg(CONFIRMATIONS)
    for (const afterMs of [6_000, HOUR, DAY]) await recheck(afterMs)
    expect(await stateOf(reference)).toBe('seen order:a')
    await network.mine(FINALITY)
    second.mood = { kind: 'reset' }
    await recheck()
    expect(fixture.gone).toEqual([])
    second.mood = { kind: 'pass' }
    await recheck()
    expect(await stateOf(reference)).toBe('gone order:a')
    expect(await fixture.inEscrow('order:a')).toBe(0n)
  })
})
