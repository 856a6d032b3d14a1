import { incomingTransfersFollower } from '@market/chains/solana/follow-incoming-transfers'
import { solanaNodes } from '@market/chains/solana/nodes'
import { solanaChain } from '@market/chains/solana/solana-chain'
import { address, type KeyPairSigner } from '@solana/kit'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSolanaRelay } from './solana-relay.ts'
import { type SolanaWorld, startSolanaWorld } from './solana-support.ts'

let world: SolanaWorld
let payers: readonly KeyPairSigner[]
const expected = new Map<string, bigint>()

const PAYMENTS = 24

beforeAll(async () => {
  world = await startSolanaWorld({ slotTimeMs: 20 })
  payers = await Promise.all([world.wallet(10n ** 9n), world.wallet(10n ** 9n), world.wallet(10n ** 9n)])
  await world.usdc.fund(world.treasury.address, 1_000_000n)
  const [first] = payers
  if (first === undefined) throw new Error('no payer')
  // Several at once, so that a slot has more than one, with other transactions between them.
  for (let start = 0; start < PAYMENTS; start += payers.length) {
    await Promise.all(
      payers.map(async (payer, index) => {
        const amount = 1_000n + BigInt(start + index)
        const signature = await world.run(payer, [
          await world.transfer(payer, world.treasury.address, amount),
        ])
        expected.set(signature, amount)
      }),
    )
    await world.run(world.treasury, [await world.transfer(world.treasury, first.address, 1n + BigInt(start))])
  }
  const failed = await world.run(first, [await world.transfer(first, world.treasury.address, 10n ** 15n)])
  await world.settled(failed, 'finalized')
})
afterAll(() => world.stop())

type Follow = ReturnType<typeof incomingTransfersFollower>

const followAll = async (follow: Follow, limits: () => number, position?: string) => {
  const seen: { reference: string; amount: bigint; height: bigint }[] = []
  let at = position
  for (;;) {
    const next = await follow(at, limits())
    seen.push(
      ...next.transfers.map(({ reference, amount, block }) => ({ reference, amount, height: block.height })),
    )
    if (next.position === at) return { seen, position: next.position }
    at = next.position
  }
}

const newFollower = (page: number, url = world.chain.url): Follow => {
  const treasury = async () => ({
    account: address(await world.usdc.accountOf(world.treasury.address)),
    owner: world.treasury.address,
    mint: world.usdc.mint,
  })
  return incomingTransfersFollower(
    solanaNodes({ rpcUrls: [url] }),
    treasury,
    new Set([world.treasury.address]),
    { page, isFinal: true },
  )
}

test('returns every payment exactly once, oldest first, for any page size and restart', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 40 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      async (page, limits, restarts) => {
        let turn = 0
        const limit = () => limits[turn++ % limits.length] ?? 1
        const one = newFollower(page)
        const follow: Follow = (position, size) => (restarts ? newFollower(page) : one)(position, size)
        const { seen } = await followAll(follow, limit)
        expect(Object.fromEntries(seen.map(({ reference, amount }) => [reference, amount]))).toEqual(
          Object.fromEntries(expected),
        )
        expect(seen).toHaveLength(expected.size)
        const heights = seen.map(({ height }) => height)
        expect(heights).toEqual([...heights].sort((a, b) => Number(a - b)))
      },
    ),
    { numRuns: 8 },
  )
})

test('finds a later payment from the stored position, with its payer', async () => {
  const chain = solanaChain(world.settings)
  const { position } = await followAll(
    (at, limit) => chain.transfersAfter(at, limit),
    () => 100,
  )
  const payer = await world.wallet(77n)
  const reference = await world.run(payer, [await world.transfer(payer, world.treasury.address, 77n)])
  await world.settled(reference, 'finalized')
  const { transfers } = await chain.transfersAfter(position, 100)
  expect(transfers).toMatchObject([{ reference, amount: 77n, payer: payer.address, final: true }])
  expected.set(reference, 77n)
})

test('returns a position for a treasury without payments', async () => {
  const fresh = await world.wallet()
  const chain = solanaChain({ ...world.settings, treasury: fresh.address })
  const { transfers, position } = await chain.transfersAfter(undefined, 10)
  expect(transfers).toEqual([])
  const payer = await world.wallet(5n)
  const reference = await world.run(payer, [
    await world.openAccount(payer, fresh.address),
    await world.transfer(payer, fresh.address, 5n),
  ])
  await world.settled(reference, 'finalized')
  expect((await chain.transfersAfter(position, 10)).transfers).toMatchObject([{ reference, amount: 5n }])
})

test('throws when the history of a node does not reach the position', async () => {
  const { position } = await newFollower(1_000)(undefined, 3)
  const forgetful = await startSolanaRelay(world.chain.url)
  forgetful.manner = async (call, ask) => {
    const result = await ask()
    if (call.method !== 'getSignaturesForAddress' || !Array.isArray(result)) return result
    const config = call.params[1] as { readonly before?: string }
    return config.before === undefined ? result.slice(0, 5) : []
  }
  await expect(newFollower(10, forgetful.url)(position, 100)).rejects.toMatchObject({ kind: 'unavailable' })
  await forgetful.stop()
})

test('throws for a listed transaction that the node does not have', async () => {
  const partial = await startSolanaRelay(world.chain.url)
  const [missing] = expected.keys()
  partial.manner = async (call, ask) =>
    call.method === 'getTransaction' && call.params[0] === missing ? null : ask()
  await expect(newFollower(1_000, partial.url)(undefined, 1_000)).rejects.toMatchObject({
    kind: 'unavailable',
  })
  await partial.stop()
})

test('throws for an invalid position', async () => {
  await expect(newFollower(10)('0xabc', 10)).rejects.toThrow(/not a position on Solana/)
})
