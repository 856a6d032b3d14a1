import { solanaChain } from '@market/chains/solana/solana-chain'
import { solanaPayoutSender } from '@market/chains/solana/solana-payout-sender'
import type { RecordedTransfer } from '@market/core/ports/chain'
import { usdc } from '@market/kernel/money'
import type { KeyPairSigner } from '@solana/kit'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { always, type Manner, type SolanaRelay, startSolanaRelay } from './solana-relay.ts'
import { type SolanaWorld, startSolanaWorld } from './solana-support.ts'

let world: SolanaWorld
let first: SolanaRelay
let second: SolanaRelay
let payer: KeyPairSigner
let recorded: RecordedTransfer

const passing: Manner = (_call, ask) => ask()
const AMOUNT = usdc(5_000_000n)

beforeAll(async () => {
  world = await startSolanaWorld()
  ;[first, second] = await Promise.all([startSolanaRelay(world.chain.url), startSolanaRelay(world.chain.url)])
  payer = await world.wallet(50_000_000n)
  const reference = await world.run(payer, [
    await world.openAccount(payer, world.treasury.address),
    await world.transfer(payer, world.treasury.address, AMOUNT),
  ])
  await world.settled(reference, 'finalized')
  const observation = await solanaChain(world.settings).findTransfer({
    reference,
    minAmount: usdc(1n),
    notBefore: new Date(0),
    notAfter: new Date(8.64e15),
  })
  if (observation.kind !== 'ok') throw new Error('it was just sent')
  recorded = { reference, index: 0, block: observation.transfer.block, payer: payer.address, amount: AMOUNT }
})
beforeEach(() => {
  first.manner = passing
  second.manner = passing
})
afterAll(async () => {
  await Promise.all([first.stop(), second.stop()])
  await world.stop()
})

const host = ({ url }: SolanaRelay): string => new URL(url).host
const settings = () => ({ ...world.settings, rpcUrls: [first.url, second.url], minProviders: 2 })
const check = (changes: Partial<RecordedTransfer> = {}) =>
  solanaChain(settings()).checkTransfer({ ...recorded, ...changes })

/** The node has neither the transaction nor a block in its slot. */
const without: Manner = async ({ method }, ask) => {
  if (method === 'getSignatureStatuses') return { context: { slot: 10 ** 6 }, value: [null] }
  if (method === 'getBlocks') return []
  return ask()
}

/** Only its index of transactions lost it: the block still has it. */
const forgetful: Manner = async ({ method }, ask) =>
  method === 'getSignatureStatuses' ? { context: { slot: 10 ** 6 }, value: [null] } : ask()

const behind: Manner = async (call, ask) => {
  const result = (await ask()) as { absoluteSlot?: number; context?: { slot: number } }
  if (call.method === 'getSignatureStatuses') return { context: { slot: 1 }, value: [null] }
  if (call.method === 'getEpochInfo') return { ...result, absoluteSlot: 1, blockHeight: 1 }
  if (result?.context !== undefined) return { ...result, context: { ...result.context, slot: 1 } }
  return result
}

/** A chain that is old enough for a node to be an hour behind. */
const ahead: Manner = async (_call, ask) => {
  const result = (await ask()) as { context?: { slot: number } }
  return result?.context === undefined ? result : { ...result, context: { slot: 10_000 } }
}

describe('transfer', () => {
  test('is final when two providers show it, and one query reports no finality', async () => {
    expect(await check()).toMatchObject({
      verdict: 'final',
      observation: { transfer: { amount: AMOUNT } },
      disagreeing: [],
    })
    const { reference } = recorded
    const query = { reference, minAmount: usdc(1n), notBefore: new Date(0), notAfter: new Date(8.64e15) }
    expect(await solanaChain(settings()).findTransfer(query)).toMatchObject({
      kind: 'ok',
      transfer: { final: false },
    })
  })

  test('that one provider does not have in its final chain is neither final nor reversed', async () => {
    second.manner = without
    expect(await check()).toMatchObject({
      verdict: 'open',
      disagreeing: [host(first), host(second)].sort(),
    })
    first.manner = without
    expect(await check()).toMatchObject({ verdict: 'reversed' })
  })

  test.each([
    ['lost its index of transactions', forgetful],
    ['is an hour behind', behind],
  ])('is not reversed when both providers answer and one %s', async (_, manner) => {
    second.manner = manner
    expect(await check()).toMatchObject({ verdict: 'open', disagreeing: [] })
    first.manner = manner
    expect(await check()).toMatchObject({ verdict: 'open' })
  })

  test('with another amount than recorded is reversed when two providers show it', async () => {
    expect(await check({ amount: usdc(9_000_000n) })).toMatchObject({ verdict: 'reversed' })
  })
})

describe('balance', () => {
  test('is what two providers show, the lower of two', async () => {
    const chain = solanaChain(settings())
    const honest = await chain.balanceOf(world.treasury.address)
    expect(honest).toMatchObject({ latest: AMOUNT, final: AMOUNT })
    second.manner = async (call, ask) =>
      call.method === 'getAccountInfo' ? { context: { slot: 10 ** 6 }, value: null } : ask()
    first.manner = async (call, ask) => {
      const result = (await ask()) as { context: object }
      return call.method === 'getAccountInfo' ? { ...result, context: { slot: 10 ** 6 } } : result
    }
    expect(await chain.balanceOf(world.treasury.address)).toMatchObject({ latest: 0n, final: 0n })
  })

  test('of a provider that is behind does not count, and payouts learn its name', async () => {
    first.manner = ahead
    second.manner = behind
    const message = `${host(second)} is`
    await expect(solanaChain(settings()).balanceOf(world.treasury.address)).rejects.toThrow(message)
    await expect(solanaPayoutSender(settings(), world.signer).usdcBalance()).rejects.toThrow(message)
  })
})

test('sign: throws unavailable when fewer providers than required report a block height', async () => {
  second.manner = always({ kind: 'reset' })
  const payout = { mark: 'po_1', to: payer.address, amount: AMOUNT, opensAccount: true }
  const sender = solanaPayoutSender(settings(), world.signer)
  await expect(sender.sign(payout, 0)).rejects.toMatchObject({ kind: 'unavailable' })
  second.manner = passing
  expect((await sender.sign(payout, 0)).validTo).toBeGreaterThan(150n)
})
