import { solanaChain } from '@market/chains/solana/solana-chain'
import type { FinalBlock } from '@market/core/ports/chain'
import { address, generateKeyPairSigner } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { type Manner, type SolanaRelay, startSolanaRelay } from './solana-relay.ts'
import { type SolanaWorld, startSolanaWorld } from './solana-support.ts'

let world: SolanaWorld
beforeAll(async () => {
  world = await startSolanaWorld({ slotTimeMs: 10 })
  await world.usdc.fund(world.treasury.address, 1_000n)
})
afterAll(() => world.stop())

const START: FinalBlock = { height: 0n, hash: '' }

const relays: SolanaRelay[] = []
afterAll(() => Promise.all(relays.map((relay) => relay.stop())))
const relayed = async (manner: Manner) => {
  const relay = await startSolanaRelay(world.chain.url)
  relay.manner = manner
  relays.push(relay)
  return relay
}

const coldHeld = async (cold: string, url = world.chain.url) => {
  const chain = solanaChain({ ...world.settings, cold, rpcUrls: [url] })
  const { agreed } = await chain.finalMovementsAfter(START)
  return agreed?.coldHeld
}

test('what the cold address has is known after a stranger sent lamports to its USDC account', async () => {
  const cold = (await generateKeyPairSigner()).address
  const [payer, stranger] = [await world.wallet(100n), await world.wallet()]
  const moved = await world.run(payer, [
    await world.openAccount(payer, cold),
    await world.transfer(payer, cold, 5n),
    await world.transfer(payer, world.treasury.address, 1n),
  ])
  await world.settled(moved, 'finalized')
  await until('it is final', async () => (await coldHeld(cold)) === 5n, { withinMs: 20_000 })
  const destination = address(await world.usdc.accountOf(cold))
  const sent = await world.run(stranger, [
    getTransferSolInstruction({ source: stranger, destination, amount: 1n }),
  ])
  await world.settled(sent, 'finalized')
  // As Agave does: without the token program among its accounts, a transaction has no token balances.
  const agave = await relayed(async (call, ask) => {
    const result = await ask()
    if (call.method !== 'getTransaction' || call.params[0] !== sent) return result
    const transaction = result as { meta: object }
    return { ...transaction, meta: { ...transaction.meta, preTokenBalances: [], postTokenBalances: [] } }
  })
  expect(await coldHeld(cold, agave.url)).toBe(5n)
})

test('a payment that the list of a node lacks leaves a balance that nothing explains', async () => {
  const payer = await world.wallet(100n)
  const chain = solanaChain(world.settings)
  const { agreed } = await chain.finalMovementsAfter(START)
  if (agreed === undefined) throw new Error('nothing is final')
  const reference = await world.run(payer, [await world.transfer(payer, world.treasury.address, 7n)])
  await world.settled(reference, 'finalized')
  // Behind one name are several nodes: the one that lists has a few slots less than the one that was asked for its slot.
  const lagging = await relayed(async (call, ask) => {
    const result = await ask()
    if (call.method !== 'getSignaturesForAddress') return result
    return (result as { signature: string }[]).filter(({ signature }) => signature !== reference)
  })
  const behind = solanaChain({ ...world.settings, rpcUrls: [lagging.url] })
  const first = await behind.finalMovementsAfter(agreed.to)
  expect(first.agreed).toMatchObject({ incoming: [], treasuryHeld: (agreed.treasuryHeld ?? 0n) + 7n })
})
