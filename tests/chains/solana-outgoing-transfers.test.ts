import { setTimeout as wait } from 'node:timers/promises'
import { outgoingTransfersFollower } from '@market/chains/solana/follow-outgoing-transfers'
import { solanaNodes } from '@market/chains/solana/nodes'
import { EXPIRY_MARGIN } from '@market/chains/solana/observe-payout'
import { MEMO_PROGRAM } from '@market/chains/solana/sign-payout'
import { solanaChain } from '@market/chains/solana/solana-chain'
import { solanaPayoutSender } from '@market/chains/solana/solana-payout-sender'
import type { ObservedOutgoingTransfer } from '@market/core/ports/chain'
import type { PayoutRequest, PayoutSender, SignedTransfer } from '@market/core/ports/payout-sender'
import { usdc } from '@market/kernel/money'
import { address, generateKeyPairSigner, signature } from '@solana/kit'
import { getAddMemoInstruction } from '@solana-program/memo'
import { getApproveInstruction, getTransferCheckedInstruction } from '@solana-program/token'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { always, type SolanaRelay, startSolanaRelay } from './solana-relay.ts'
import { type SolanaWorld, startSolanaWorld } from './solana-support.ts'

const SLOT_TIME_MS = 10
const FLOAT = 10n ** 12n
const PAYOUTS = 10
/** Allows for a busy machine. */
const WITHIN = { withinMs: 60_000 }

let world: SolanaWorld
let sender: PayoutSender
/** Paid before the first test, oldest first. */
const paid: { readonly order: PayoutRequest; readonly reference: string }[] = []
const relays: SolanaRelay[] = []

let count = 0
const newId = () => {
  count += 1
  return `pay_${String(count).padStart(32, '0')}`
}
const newOrder = async (amount: bigint, to?: string): Promise<PayoutRequest> => ({
  payoutId: newId(),
  to: to ?? (await generateKeyPairSigner()).address,
  amount: usdc(amount),
  opensAccount: true,
})

const isFinal = async (signed: SignedTransfer) =>
  until('the payout is final', async () => (await sender.observe([signed])).kind === 'final', WITHIN)
const payOut = async (order: PayoutRequest): Promise<string> => {
  const signed = await sender.sign(order, null, [])
  await sender.send(signed)
  await isFinal(signed)
  return signed.reference
}

beforeAll(async () => {
  world = await startSolanaWorld({ slotTimeMs: SLOT_TIME_MS })
  await world.usdc.fund(world.treasury.address, FLOAT)
  sender = solanaPayoutSender(world.settings, world.signer)
  const payer = await world.wallet(10n ** 9n)
  const same = (await generateKeyPairSigner()).address
  for (let index = 0; index < PAYOUTS; index += 2) {
    const orders = [await newOrder(7n, same), await newOrder(100n + BigInt(index))]
    await world.run(payer, [await world.transfer(payer, world.treasury.address, 1_000n)])
    const references = await Promise.all(orders.map(payOut))
    for (const [at, order] of orders.entries()) paid.push({ order, reference: references[at] ?? '' })
  }
  // Fails in its block, but nodes list it.
  const tooMuch = await sender.sign(await newOrder(FLOAT * 10n), null, [])
  await sender.send(tooMuch)
  await until('it failed', async () => (await sender.observe([tooMuch])).kind === 'failed', WITHIN)
})
afterAll(() => world.stop())
afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.stop()))
})

const relayed = async () => {
  const relay = await startSolanaRelay(world.chain.url)
  relays.push(relay)
  return relay
}

type Follow = ReturnType<typeof outgoingTransfersFollower>

const followerOver = (page: number, url = world.chain.url): Follow => {
  const treasury = async () => ({
    account: address(await world.usdc.accountOf(world.treasury.address)),
    owner: world.treasury.address,
    mint: world.usdc.mint,
  })
  return outgoingTransfersFollower(solanaNodes({ rpcUrls: [url] }), treasury, { page })
}

const followAll = async (follow: Follow, limit: () => number = () => 100, from?: string) => {
  const outgoingTransfers: ObservedOutgoingTransfer[] = []
  let position = from
  for (;;) {
    const next = await follow(position, limit())
    outgoingTransfers.push(...next.outgoingTransfers)
    if (next.position === position) return { outgoingTransfers, position }
    position = next.position
  }
}
const references = (outgoingTransfers: readonly ObservedOutgoingTransfer[]) =>
  outgoingTransfers.map(({ reference }) => reference)

test('returns every payout exactly once, oldest first and with its id, and nothing else', async () => {
  const cases = [
    { page: 1_000, limits: [1], restarts: false },
    { page: 3, limits: [2, 5], restarts: true },
    { page: 7, limits: [4], restarts: false },
    { page: 1, limits: [100], restarts: true },
  ]
  const expected = paid.map(({ order, reference }) => ({
    reference,
    payoutId: order.payoutId,
    payee: order.to,
    amount: order.amount,
    nonce: null,
    final: true,
  }))
  const byReference = (a: { reference: string }, b: { reference: string }) =>
    a.reference < b.reference ? -1 : 1
  for (const { page, limits, restarts } of cases) {
    let turn = 0
    const one = followerOver(page)
    const follow: Follow = (position, limit) => (restarts ? followerOver(page) : one)(position, limit)
    const { outgoingTransfers } = await followAll(follow, () => limits[turn++ % limits.length] ?? 1)
    expect(outgoingTransfers).toHaveLength(PAYOUTS)
    expect(outgoingTransfers.toSorted(byReference)).toMatchObject(expected.toSorted(byReference))
    const heights = outgoingTransfers.map(({ block }) => block.height)
    expect(heights).toEqual(heights.toSorted((a, b) => Number(a - b)))
  }
})

test('finds a later payout from the stored position, with its time and block', async () => {
  const chain = solanaChain(world.settings)
  const { position } = await followAll((from, limit) => chain.outgoingTransfersAfter(from, limit))
  const order = await newOrder(77n)
  const reference = await payOut(order)
  const { outgoingTransfers } = await chain.outgoingTransfersAfter(position, 100)
  const transaction = await world.rpc
    .getTransaction(signature(reference), {
      commitment: 'confirmed',
      encoding: 'json',
      maxSupportedTransactionVersion: 1,
    })
    .send()
  expect(outgoingTransfers).toEqual([
    {
      reference,
      payoutId: order.payoutId,
      payee: order.to,
      amount: 77n,
      nonce: null,
      at: new Date(Number(transaction?.blockTime) * 1_000),
      block: { height: transaction?.slot, hash: expect.any(String) },
      final: true,
    },
  ])
})

test('returns a payout that was signed again after expiry with the same id', async () => {
  const chain = solanaChain(world.settings)
  const { position } = await followAll((from, limit) => chain.outgoingTransfersAfter(from, limit))
  const order = await newOrder(5n)
  const unsent = await sender.sign(order, null, [])
  const second = await sender.sign(order, null, [unsent])
  await sender.send(second)
  await isFinal(second)
  const { outgoingTransfers } = await chain.outgoingTransfersAfter(position, 100)
  expect(outgoingTransfers).toMatchObject([{ reference: second.reference, payoutId: order.payoutId }])
})

test('returns transfers that are not payouts without a payout id, for any memo', async () => {
  const chain = solanaChain(world.settings)
  const { position } = await followAll((from, limit) => chain.outgoingTransfersAfter(from, limit))
  const { treasury } = world
  const [one, other, delegate] = await Promise.all([world.wallet(1n), world.wallet(1n), world.wallet()])
  const memo = (text: string) => getAddMemoInstruction({ memo: text }, { programAddress: MEMO_PROGRAM })
  const pay = (to: string, amount: bigint) => world.transfer(treasury, to, amount)
  const source = address(await world.usdc.accountOf(treasury.address))
  await world.run(treasury, [
    getApproveInstruction({ source, delegate: delegate.address, owner: treasury, amount: 1_000n }),
  ])
  const drawn = getTransferCheckedInstruction({
    source,
    mint: address(world.usdc.mint),
    destination: address(await world.usdc.accountOf(one.address)),
    authority: delegate,
    amount: 6n,
    decimals: 6,
  })
  const [id, second] = [newId(), newId()]
  const sent = [
    await world.run(treasury, [await pay(one.address, 1n)]),
    await world.run(treasury, [await pay(one.address, 2n), memo(id)]),
    await world.run(treasury, [await pay(one.address, 3n), memo(`${id}#0`)]),
    await world.run(treasury, [memo(`${id}#1`), await pay(one.address, 4n), memo(`${second}#1`)]),
    await world.run(treasury, [await pay(one.address, 5n), memo(`a ${id}#1`)]),
    await world.run(delegate, [drawn, memo(`${id}#1`)]),
    await world.run(treasury, [await pay(one.address, 7n), await pay(other.address, 8n)]),
    // The memo can be at any position. The treasury's signature makes it trustworthy.
    await world.run(treasury, [memo(`${id}#12`), await pay(other.address, 9n)]),
  ]
  for (const reference of sent) await world.settled(reference, 'finalized')
  const { outgoingTransfers } = await followAll(
    (from, limit) => chain.outgoingTransfersAfter(from, limit),
    () => 3,
    position,
  )
  expect(outgoingTransfers.map(({ payoutId, payee, amount }) => ({ payoutId, payee, amount }))).toEqual([
    ...[1n, 2n, 3n, 4n, 5n, 6n].map((amount) => ({ payoutId: null, payee: one.address, amount })),
    { payoutId: null, payee: null, amount: 15n },
    { payoutId: id, payee: other.address, amount: 9n },
  ])
  expect(references(outgoingTransfers)).toEqual(sent)
})

test('returns a position for a treasury without payouts', async () => {
  const fresh = await world.wallet()
  const chain = solanaChain({ ...world.settings, treasury: fresh.address })
  const { outgoingTransfers, position } = await chain.outgoingTransfersAfter(undefined, 10)
  expect(outgoingTransfers).toEqual([])
  expect(await chain.outgoingTransfersAfter(position, 10)).toEqual({ outgoingTransfers: [], position })
})

test('throws when the history of a node does not reach the position', async () => {
  const { position } = await followerOver(1_000)(undefined, 3)
  const forgetful = await relayed()
  forgetful.manner = async (call, ask) => {
    const result = await ask()
    if (call.method !== 'getSignaturesForAddress' || !Array.isArray(result)) return result
    const config = call.params[1] as { readonly before?: string }
    return config.before === undefined ? result.slice(0, 5) : []
  }
  await expect(followerOver(10, forgetful.url)(position, 100)).rejects.toMatchObject({ kind: 'unavailable' })
})

test('throws for a listed transaction that the node does not have', async () => {
  const partial = await relayed()
  const missing = paid[3]?.reference
  partial.manner = async (call, ask) =>
    call.method === 'getTransaction' && call.params[0] === missing ? null : ask()
  await expect(followerOver(1_000, partial.url)(undefined, 1_000)).rejects.toMatchObject({
    kind: 'unavailable',
  })
})

/** A node that stays at one slot. */
const standsAt = async (finalSlot: bigint): Promise<SolanaRelay> => {
  const relay = await relayed()
  relay.manner = async (call, ask) => {
    const result = await ask()
    if (call.method === 'getEpochInfo') return { ...(result as object), absoluteSlot: Number(finalSlot) }
    if (call.method !== 'getSignaturesForAddress') return result
    return (result as readonly { readonly slot: number }[]).filter(({ slot }) => BigInt(slot) <= finalSlot)
  }
  return relay
}

test('does not use a node below a final slot that was already returned', async () => {
  const { absoluteSlot } = await world.rpc.getEpochInfo({ commitment: 'finalized' }).send()
  const late = await payOut(await newOrder(11n))
  const behind = await standsAt(absoluteSlot)
  const passing = behind.manner
  const chain = solanaChain({ ...world.settings, rpcUrls: [behind.url, world.chain.url] })
  const { outgoingTransfers: old } = await chain.outgoingTransfersAfter(undefined, 1_000)
  expect(old.length).toBeGreaterThanOrEqual(PAYOUTS)
  expect(references(old)).not.toContain(late)
  behind.manner = always({ kind: 'reset' })
  await chain.heights()
  behind.manner = passing
  const { outgoingTransfers } = await followAll((from, limit) => chain.outgoingTransfersAfter(from, limit))
  expect(references(outgoingTransfers)).toContain(late)
})

test('heights: final is the lowest and horizon the highest value of all nodes', async () => {
  const [low, high] = [await relayed(), await relayed()]
  const LOW = 4
  const HIGH = 1_000_000
  low.manner = async (call, ask) => {
    const result = (await ask()) as object
    return call.method === 'getEpochInfo' ? { ...result, blockHeight: LOW } : result
  }
  high.manner = async (call, ask) => {
    const result = (await ask()) as { readonly value: object }
    if (call.method !== 'getLatestBlockhash') return result
    return { ...result, value: { ...result.value, lastValidBlockHeight: HIGH } }
  }
  const away = await relayed()
  away.manner = always({ kind: 'reset' })
  const over = (...urls: string[]) => solanaChain({ ...world.settings, rpcUrls: urls })
  expect(await over(world.chain.url, away.url, low.url, high.url).heights()).toEqual({
    final: BigInt(LOW),
    horizon: BigInt(HIGH) + EXPIRY_MARGIN,
  })
  await expect(over(away.url).heights()).rejects.toMatchObject({ kind: 'unavailable' })
})

test('a transaction signed before cannot be executed after the final height passed the horizon', async () => {
  const chain = solanaChain(world.settings)
  const order = await newOrder(13n)
  const unsent = await sender.sign(order, null, [])
  const { final, horizon } = await chain.heights()
  expect(horizon).toBeGreaterThanOrEqual((unsent.lastValidHeight ?? 0n) + EXPIRY_MARGIN)
  expect(final).toBeLessThan(horizon)
  await until('the horizon is passed', async () => (await chain.heights()).final > horizon, WITHIN)
  for (let round = 0; round < 5; round++) {
    await sender.send(unsent).catch(() => undefined)
    await wait(SLOT_TIME_MS)
  }
  // A transaction signed now is executed, and the earlier one was not.
  const later = await payOut(await newOrder(14n))
  const { outgoingTransfers } = await followAll((from, limit) => chain.outgoingTransfersAfter(from, limit))
  expect(references(outgoingTransfers)).toContain(later)
  expect(outgoingTransfers.map(({ payoutId }) => payoutId)).not.toContain(order.payoutId)
  expect(await world.usdc.balanceOf(order.to)).toBe(0n)
})
