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

test('a list that lacks the last slot, and has later ones when it is asked again, is not believed', async () => {
  const payer = await world.wallet(100n)
  const { agreed } = await solanaChain(world.settings).finalMovementsAfter(START)
  if (agreed === undefined) throw new Error('nothing is final')
  const pay = async (amount: bigint) => {
    const reference = await world.run(payer, [await world.transfer(payer, world.treasury.address, amount)])
    await world.settled(reference, 'finalized')
    return reference
  }
  const [reference, later] = [await pay(3n), await pay(4n)]
  const { value } = (await world.chain.call('getSignatureStatuses', [reference])) as {
    readonly value: readonly { readonly slot: number }[]
  }
  let lists = 0
  const late = await relayed(async ({ method }, ask) => {
    const result = await ask()
    if (method === 'getEpochInfo') return { ...(result as object), absoluteSlot: value[0]?.slot }
    if (method !== 'getSignaturesForAddress' || ++lists > 1) return result
    return (result as { signature: string }[]).filter(
      ({ signature }) => !(signature === reference || signature === later),
    )
  })
  const chain = solanaChain({ ...world.settings, rpcUrls: [late.url] })
  const read = () =>
    chain.finalMovementsAfter(agreed.to).then(
      (reading) => reading.agreed,
      () => undefined,
    )
  expect(await read()).toBeUndefined()
  expect(await read()).toMatchObject({ incoming: [{ reference }], to: { hash: reference } })
})
