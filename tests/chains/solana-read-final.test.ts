import { setTimeout as wait } from 'node:timers/promises'
import { EXPIRY_MARGIN } from '@market/chains/solana/observe-payout'
import type { SolanaSettings } from '@market/chains/solana/settings'
import { MEMO_PROGRAM } from '@market/chains/solana/sign-payout'
import { solanaChain } from '@market/chains/solana/solana-chain'
import { type SolanaPayoutSender, solanaPayoutSender } from '@market/chains/solana/solana-payout-sender'
import {
  type FinalBlock,
  type IncomingTransfer,
  type ObservedOutgoingTransfer,
  TooFewProviders,
} from '@market/core/ports/chain'
import type { PayoutRequest, SignedPayout } from '@market/core/ports/payout-sender'
import { usdc } from '@market/kernel/money'
import { address, generateKeyPairSigner, type KeyPairSigner, type Signature, signature } from '@solana/kit'
import { getAddMemoInstruction } from '@solana-program/memo'
import { getApproveInstruction, getTransferCheckedInstruction } from '@solana-program/token'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { always, InTrouble, type Manner, type SolanaRelay, startSolanaRelay } from './solana-relay.ts'
import { type SolanaWorld, startSolanaWorld } from './solana-support.ts'

const SLOT_TIME_MS = 10
const FLOAT = 10n ** 12n
/** Each test reads all of their payments again, from up to three nodes. */
const ROUNDS = 2
/** Allows for a busy machine. */
const WITHIN = { withinMs: 60_000 }

let world: SolanaWorld
let sender: SolanaPayoutSender
let payers: readonly KeyPairSigner[]
/** Paid before the first test. */
const payments = new Map<string, { readonly amount: bigint; readonly payer: string }>()
const payouts: { readonly payout: PayoutRequest; readonly reference: string }[] = []
/** The newest final slots after each round of payments. */
const ends: FinalBlock[] = []
/** The final blocks before the first test. */
let whole: Awaited<ReturnType<typeof readAll>>
const relays: SolanaRelay[] = []

let count = 0
const newId = () => {
  count += 1
  return `pay_${String(count).padStart(32, '0')}`
}
const newPayout = async (amount: bigint, to?: string): Promise<PayoutRequest> => ({
  mark: newId(),
  to: to ?? (await generateKeyPairSigner()).address,
  amount: usdc(amount),
  opensAccount: true,
})
const isFinal = async (signed: SignedPayout) =>
  until('the payout is final', async () => (await sender.observe([signed])).kind === 'final', WITHIN)
const payOut = async (payout: PayoutRequest): Promise<string> => {
  const signed = await sender.sign(payout, 0)
  await sender.send(signed)
  await isFinal(signed)
  return signed.reference
}
const START: FinalBlock = { height: 0n, hash: '' }

const chainOf = (changes: Partial<SolanaSettings> = {}) => solanaChain({ ...world.settings, ...changes })
/** What is final now: everything that was sent and awaited before. */
const readAll = async (from: FinalBlock = START, changes: Partial<SolanaSettings> = {}) => {
  const incoming: IncomingTransfer[] = []
  const outgoing: ObservedOutgoingTransfer[] = []
  let to = from
  for (;;) {
    const { agreed, isEnd, disagreeing } = await chainOf(changes).finalMovementsAfter(to)
    expect(disagreeing).toEqual([])
    incoming.push(...(agreed?.incoming ?? []))
    outgoing.push(...(agreed?.outgoing ?? []))
    to = agreed?.to ?? to
    if (isEnd) return { incoming, outgoing, to }
  }
}
const references = (transfers: readonly { readonly reference: string }[]) =>
  transfers.map(({ reference }) => reference)

beforeAll(async () => {
  world = await startSolanaWorld({ slotTimeMs: SLOT_TIME_MS })
  await world.usdc.fund(world.treasury.address, FLOAT)
  sender = solanaPayoutSender(world.settings, world.signer)
  payers = await Promise.all([world.wallet(10n ** 9n), world.wallet(10n ** 9n), world.wallet(10n ** 9n)])
  const same = (await generateKeyPairSigner()).address
  for (let round = 0; round < ROUNDS; round++) {
    // Several at once, so that a slot has more than one.
    const requested = [await newPayout(7n, same), await newPayout(100n + BigInt(round))]
    const [sent] = await Promise.all([
      Promise.all(requested.map(payOut)),
      ...payers.map(async (payer, index) => {
        const amount = 1_000n + BigInt(round * payers.length + index)
        const paid = await world.run(payer, [await world.transfer(payer, world.treasury.address, amount)])
        await world.settled(paid, 'finalized')
        payments.set(paid, { amount, payer: payer.address })
      }),
    ])
    for (const [at, payout] of requested.entries()) payouts.push({ payout, reference: sent[at] ?? '' })
    ends.push((await readAll(ends.at(-1))).to)
  }
  const [payer] = payers
  if (payer === undefined) throw new Error('no payer')
  // Both fail in their slots, but nodes list them.
  const tooMuch = await sender.sign(await newPayout(FLOAT * 10n), 0)
  await sender.send(tooMuch)
  await until('it failed', async () => (await sender.observe([tooMuch])).kind === 'failed', WITHIN)
  const failed = await world.run(payer, [await world.transfer(payer, world.treasury.address, 10n ** 15n)])
  await world.settled(failed, 'finalized')
  whole = await readAll()
})
afterAll(() => world.stop())
afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.stop()))
})

const relayed = async (manner: Manner = (_call, ask) => ask()) => {
  const relay = await startSolanaRelay(world.chain.url)
  relay.manner = manner
  relays.push(relay)
  return relay
}
const changing =
  (method: string, change: (result: never, params: readonly unknown[]) => unknown): Manner =>
  async (call, ask) =>
    call.method === method ? change((await ask()) as never, call.params) : ask()

test('every payment and payout is final exactly once, oldest first, for any page of the history and restart', async () => {
  const byReference = (a: { reference: string }, b: { reference: string }) =>
    a.reference < b.reference ? -1 : 1
  const cases = fc.record({
    historyPage: fc.integer({ min: 1, max: 40 }),
    stops: fc.subarray([...ends.keys()]),
  })
  await fc.assert(
    fc.asyncProperty(cases, async ({ historyPage, stops }) => {
      const parts: (typeof whole)[] = []
      // A reading from a stored slot, whose part before ended there.
      const from = [START, ...stops.flatMap((stop) => ends[stop] ?? [])]
      for (const [index, start] of from.entries()) {
        const end = from[index + 1]?.height
        const part = await readAll(start, { historyPage })
        const isBefore = ({ block }: { block: { height: bigint } }) =>
          end === undefined || block.height <= end
        parts.push({
          ...part,
          incoming: part.incoming.filter(isBefore),
          outgoing: part.outgoing.filter(isBefore),
        })
      }
      const incoming = parts.flatMap((part) => part.incoming)
      const outgoing = parts.flatMap((part) => part.outgoing)
      expect(incoming.map(({ reference, amount, payer }) => [reference, { amount, payer }])).toHaveLength(
        payments.size,
      )
      expect(new Map(incoming.map(({ reference, amount, payer }) => [reference, { amount, payer }]))).toEqual(
        payments,
      )
      expect(incoming.every(({ final }) => final)).toBe(true)
      expect(outgoing).toHaveLength(payouts.length)
      expect(outgoing.toSorted(byReference)).toMatchObject(
        payouts
          .map(({ payout: { mark, to, amount }, reference }) => ({
            ...{ reference, payee: to, amount },
            index: 0,
            mark,
          }))
          .toSorted(byReference),
      )
      for (const list of [incoming, outgoing]) {
        const heights = list.map(({ block }) => block.height)
        expect(heights).toEqual(heights.toSorted((a, b) => Number(a - b)))
      }
    }),
    { numRuns: 8 },
  )
})

test('a later payment and payout are found from the stored slot, with their time and block', async () => {
  const payer = await world.wallet(77n)
  const paid = await world.run(payer, [await world.transfer(payer, world.treasury.address, 77n)])
  const payout = await newPayout(77n)
  const reference = await payOut(payout)
  await world.settled(paid, 'finalized')
  const { incoming, outgoing } = await readAll(whole.to)
  const transaction = await world.rpc
    .getTransaction(signature(reference), {
      commitment: 'confirmed',
      encoding: 'json',
      maxSupportedTransactionVersion: 1,
    })
    .send()
  expect(incoming).toMatchObject([{ reference: paid, amount: 77n, payer: payer.address, final: true }])
  expect(outgoing).toEqual([
    {
      reference,
      index: 0,
      mark: payout.mark,
      payee: payout.to,
      amount: 77n,
      at: new Date(Number(transaction?.blockTime) * 1_000),
      block: { height: transaction?.slot, hash: expect.any(String) },
    },
  ])
})

test('a payout that was signed again after expiry has the same id', async () => {
  const { to } = await readAll()
  const payout = await newPayout(5n)
  await sender.sign(payout, 0)
  const second = await sender.sign(payout, 1)
  await sender.send(second)
  await isFinal(second)
  const { outgoing } = await readAll(to)
  expect(outgoing).toMatchObject([{ reference: second.reference, mark: payout.mark }])
})

test('transfers that are not payouts have no payout id, for any memo', async () => {
  const { to } = await readAll()
  const { treasury } = world
  const [one, other, delegate] = await Promise.all([world.wallet(1n), world.wallet(1n), world.wallet()])
  const memo = (text: string) => getAddMemoInstruction({ memo: text }, { programAddress: MEMO_PROGRAM })
  const pay = (payee: string, amount: bigint) => world.transfer(treasury, payee, amount)
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
  const { outgoing } = await readAll(to)
  expect(outgoing.map(({ mark, payee, amount }) => ({ mark, payee, amount }))).toEqual([
    ...[1n, 2n, 3n, 4n, 5n, 6n].map((amount) => ({ mark: null, payee: one.address, amount })),
    { mark: null, payee: null, amount: 15n },
    { mark: id, payee: other.address, amount: 9n },
  ])
  expect(references(outgoing)).toEqual(sent)
})

test('a treasury without transfers is read to the newest final slot, and its first payment after it', async () => {
  const fresh = await world.wallet()
  const changes = { treasury: fresh.address }
  const { incoming, outgoing, to } = await readAll(await chainOf(changes).startingBlock(), changes)
  expect({ incoming, outgoing, hash: to.hash }).toEqual({ incoming: [], outgoing: [], hash: '' })
  const payer = await world.wallet(5n)
  const reference = await world.run(payer, [
    await world.openAccount(payer, fresh.address),
    await world.transfer(payer, fresh.address, 5n),
  ])
  await world.settled(reference, 'finalized')
  const next = await readAll(to, changes)
  expect(next.incoming).toMatchObject([{ reference, amount: 5n }])
  expect(next.to.hash).toBe(reference)
})

describe('one node', () => {
  const fails = async (manner: Manner, from: FinalBlock, historyPage = 1_000) => {
    const relay = await relayed(manner)
    const reading = chainOf({ rpcUrls: [relay.url], historyPage }).finalMovementsAfter(from)
    await expect(reading).rejects.toBeInstanceOf(TooFewProviders)
    return reading.catch((failure: Error) => failure.message)
  }

  test('whose history does not reach the last signature is not used', async () => {
    const short: Manner = changing('getSignaturesForAddress', (listed: unknown[], params) =>
      (params[1] as { before?: string }).before === undefined ? listed.slice(0, 5) : [],
    )
    const [, reached = START] = ends
    expect(await fails(short, reached, 10)).toContain('history of the treasury is incomplete')
  })

  test('that lists a transaction which it does not have is not used', async () => {
    const [missing] = payments.keys()
    const partial: Manner = async (call, ask) =>
      call.method === 'getTransaction' && call.params[0] === missing ? null : ask()
    expect(await fails(partial, START)).toContain('lists a transaction that it does not have')
  })
})

describe('two providers', () => {
  const NAMES = ['amber', 'blue', 'coral']
  const providersOf = (nodes: readonly SolanaRelay[]): Partial<SolanaSettings> => ({
    rpcUrls: nodes.map(({ url }) => url),
    providers: NAMES.slice(0, nodes.length),
    minProviders: 2,
  })
  /** All stop at one final slot, so that their results can be compared. */
  const upTo = (slot: bigint, manner: Manner = (_call, ask) => ask()): Manner => {
    const stopped = changing('getEpochInfo', (info: object) => ({ ...info, absoluteSlot: Number(slot) }))
    return (call, ask) => stopped(call, () => manner(call, ask))
  }
  const nodesWith = (...manners: readonly (Manner | undefined)[]) =>
    Promise.all(manners.map((manner) => relayed(upTo(whole.to.height, manner))))
  const read = (nodes: readonly SolanaRelay[], from = START) =>
    chainOf(providersOf(nodes)).finalMovementsAfter(from)

  test('that show the same make exactly the transfers up to the slot final', async () => {
    const nodes = await nodesWith(undefined, undefined)
    expect(await read(nodes)).toMatchObject({ agreed: whole, isEnd: true, disagreeing: [] })
    expect(await read(nodes, whole.to)).toEqual({ agreed: undefined, isEnd: true, disagreeing: [] })
  })

  interface Shown {
    readonly meta: { readonly postTokenBalances: readonly { readonly owner: string }[] }
    readonly transaction: {
      readonly message: {
        readonly accountKeys: readonly string[]
        readonly instructions: readonly { readonly programIdIndex: number }[]
      }
    }
  }
  const firstPayment = () => [...payments.keys()][0]
  const firstPayer = () => [...payments.values()][0]?.payer ?? ''
  const inTransaction = (reference: string | undefined, change: (shown: Shown) => unknown): Manner =>
    changing('getTransaction', (shown: Shown, [asked]) => (asked === reference ? change(shown) : shown))
  const without = (reference: string | undefined): Manner =>
    changing('getSignaturesForAddress', (listed: { signature: string }[]) =>
      listed.filter((entry) => entry.signature !== reference),
    )
  const LIES: Record<string, () => Manner> = {
    'without a payment': () => without(firstPayment()),
    'without a payout': () => without(payouts[0]?.reference),
    'with another payer': () =>
      inTransaction(firstPayment(), (shown) =>
        JSON.parse(JSON.stringify(shown).replaceAll(firstPayer(), world.issuer.address)),
      ),
    'with another amount': () =>
      inTransaction(firstPayment(), ({ meta, ...rest }) => {
        const uiTokenAmount = { amount: String(2n * FLOAT) }
        const postTokenBalances = meta.postTokenBalances.map((balance) =>
          balance.owner === world.treasury.address ? { ...balance, uiTokenAmount } : balance,
        )
        return { ...rest, meta: { ...meta, postTokenBalances } }
      }),
    'with another time': () => inTransaction(firstPayment(), (shown) => ({ ...shown, blockTime: 1 })),
    'with another block': () =>
      changing('getBlock', (block: object) => ({ ...block, blockhash: world.treasury.address })),
    'without the memo of a payout': () =>
      inTransaction(payouts[0]?.reference, (shown) => {
        const { message } = shown.transaction
        const instructions = message.instructions.filter(
          ({ programIdIndex }) => message.accountKeys[programIdIndex] !== MEMO_PROGRAM,
        )
        return { ...shown, transaction: { ...shown.transaction, message: { ...message, instructions } } }
      }),
  }

  describe.each(Object.entries(LIES))('of which one is %s', (_, lie) => {
    test.each([0, 1])('make nothing final, and are named, when it is number %i', async (place) => {
      const manner = lie()
      const nodes = await nodesWith(...[0, 1].map((at) => (at === place ? manner : undefined)))
      expect(await read(nodes)).toEqual({ agreed: undefined, isEnd: false, disagreeing: ['amber', 'blue'] })
    })

    test('do not change what two others agree on', async () => {
      const nodes = await nodesWith(lie(), undefined, undefined)
      expect(await read(nodes)).toMatchObject({ agreed: whole, isEnd: true, disagreeing: NAMES })
    })
  })

  test('of which one is behind delay finality, and do not contradict each other', async () => {
    const [end = START] = ends
    const [ahead] = await nodesWith(undefined)
    const behind = await relayed(upTo(end.height))
    if (ahead === undefined) throw new Error('no node')
    const { agreed, isEnd, disagreeing } = await read([ahead, behind])
    expect({ to: agreed?.to, isEnd, disagreeing }).toEqual({ to: end, isEnd: true, disagreeing: [] })
    expect(await read([ahead, behind], end)).toEqual({ agreed: undefined, isEnd: true, disagreeing: [] })
    const [other] = await nodesWith(undefined)
    if (other === undefined) throw new Error('no node')
    expect(await read([behind, ahead, other], end)).toMatchObject({
      agreed: { to: whole.to },
      disagreeing: [],
    })
  })

  test('of which one calls slots final too early go as far as the other', async () => {
    const early = await relayed(
      changing('getEpochInfo', (info: { absoluteSlot: number }) => ({
        ...info,
        absoluteSlot: info.absoluteSlot + 31,
      })),
    )
    const honest = await nodesWith(undefined, undefined)
    for (const nodes of [
      [early, ...honest.slice(1)],
      [early, ...honest],
    ])
      expect(await read(nodes)).toMatchObject({ agreed: whole, isEnd: true, disagreeing: [] })
  })

  test('of which one falls behind between its responses are one too few', async () => {
    let asked = 0
    const falling = await relayed((call, ask) => {
      if (call.method === 'getEpochInfo') asked += 1
      return upTo(asked > 1 ? 5n : whole.to.height)(call, ask)
    })
    const [honest] = await nodesWith(undefined)
    if (honest === undefined) throw new Error('no node')
    const reading = read([honest, falling])
    await expect(reading).rejects.toBeInstanceOf(TooFewProviders)
    await expect(reading).rejects.toThrow('1 of 2 required providers of solana-mainnet show the final blocks')
  })

  test.each(['getEpochInfo', 'getSignaturesForAddress', 'getTransaction', 'getBlock'])(
    'of which one fails at %s are one too few, and two others decide without it',
    async (method) => {
      const failing: Manner = async (call, ask) => {
        if (call.method === method) throw new InTrouble({ kind: 'reset' })
        return ask()
      }
      const [away, ...honest] = await nodesWith(failing, undefined, undefined)
      if (away === undefined) throw new Error('no node')
      away.manner = method === 'getEpochInfo' ? always({ kind: 'reset' }) : away.manner
      await expect(read([away, ...honest.slice(1)])).rejects.toThrow(/too few providers|1 of 2 required/)
      expect(await read([away, ...honest])).toMatchObject({ agreed: whole, isEnd: true, disagreeing: [] })
    },
  )

  test('are asked once each when there is no new final slot, and six times when there is and something moved later', async () => {
    const nodes = await nodesWith(undefined, undefined)
    await read(nodes, whole.to)
    expect(nodes.map(({ asked }) => asked)).toEqual([['getEpochInfo'], ['getEpochInfo']])
    for (const { asked } of nodes) asked.length = 0
    // Nothing moved in the new slots.
    await read(nodes, { ...whole.to, height: whole.to.height - 1n })
    const six = [
      ...['getEpochInfo', 'getEpochInfo', 'getSignaturesForAddress'],
      // What the treasury has. Something moved after these slots, so the list is read again.
      ...['getAccountInfo', 'getSignaturesForAddress', 'getSignaturesForAddress'],
    ]
    expect(nodes.map(({ asked }) => asked)).toEqual([six, six])
  })
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
  const over = (...rpcUrls: string[]) => chainOf({ rpcUrls })
  expect(await over(world.chain.url, away.url, low.url, high.url).heights()).toEqual({
    final: BigInt(LOW),
    horizon: BigInt(HIGH) + EXPIRY_MARGIN,
  })
  await expect(over(away.url).heights()).rejects.toMatchObject({ kind: 'unavailable' })
})

test('a transaction signed before cannot be executed after the final height passed the horizon', async () => {
  const chain = chainOf()
  const { to } = await readAll()
  const payout = await newPayout(13n)
  const unsent = await sender.sign(payout, 0)
  const { final, horizon } = await chain.heights()
  expect(horizon).toBeGreaterThanOrEqual(unsent.validTo + EXPIRY_MARGIN)
  expect(final).toBeLessThan(horizon)
  await until('the horizon is passed', async () => (await chain.heights()).final > horizon, WITHIN)
  for (let round = 0; round < 5; round++) {
    await sender.send(unsent).catch(() => undefined)
    await wait(SLOT_TIME_MS)
  }
  // A transaction signed now is executed, and the earlier one was not.
  const later = await payOut(await newPayout(14n))
  const { outgoing } = await readAll(to)
  expect(references(outgoing)).toEqual([later])
  expect(await world.usdc.balanceOf(payout.to)).toBe(0n)
})

describe('a long backlog', () => {
  const ENTRIES = 210
  let start: FinalBlock
  const sent: Signature[] = []
  beforeAll(async () => {
    start = (await readAll()).to
    const [payer] = payers
    if (payer === undefined) throw new Error('no payer')
    // Different amounts, so that no two transactions are the same.
    for (let entry = 0; entry < ENTRIES; entry++)
      sent.push(
        await world.send(payer, [await world.transfer(payer, world.treasury.address, 1n + BigInt(entry))]),
      )
    for (const reference of sent) await world.settled(reference, 'finalized')
  })

  test('is read in parts of whole slots, in which each transfer is final once', async () => {
    const chain = chainOf()
    const first = await chain.finalMovementsAfter(start)
    expect(first.isEnd).toBe(false)
    const cut = first.agreed?.to ?? start
    expect(first.agreed?.incoming.every(({ block }) => block.height <= cut.height)).toBe(true)
    const rest = await readAll(cut)
    expect(rest.incoming.every(({ block }) => block.height > cut.height)).toBe(true)
    const found = [...(first.agreed?.incoming ?? []), ...rest.incoming]
    expect(references(found).toSorted()).toEqual(sent.toSorted())
  })

  test('of one slot is read as a whole', async () => {
    const { value } = await world.rpc.getSignatureStatuses(sent.slice(-1)).send()
    const height = value[0]?.slot ?? 0n
    const own = new Set<string>(sent)
    const relay = await relayed(
      changing('getSignaturesForAddress', (listed: { signature: string; slot: number }[]) =>
        listed.map((entry) => (own.has(entry.signature) ? { ...entry, slot: Number(height) } : entry)),
      ),
    )
    const { agreed } = await chainOf({ rpcUrls: [relay.url] }).finalMovementsAfter(start)
    expect(agreed?.to.height).toBe(height)
    expect(references(agreed?.incoming ?? []).toSorted()).toEqual(sent.toSorted())
  })
})
