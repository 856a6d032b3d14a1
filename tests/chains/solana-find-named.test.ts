import { solanaWalletSigner } from '@market/chains/solana/wallet/solana-wallet-signer'
import type { KeyPairSigner } from '@solana/kit'
import { getAddMemoInstruction, LEGACY_MEMO_PROGRAM_ADDRESS_V3 } from '@solana-program/memo'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Manner, type SolanaRelay, startSolanaRelay } from './solana-relay.ts'
import { type SolanaWorld, startSolanaWorld } from './solana-support.ts'

const ID = 'wop_0_054ax4hrsbnxl9vqd'

let world: SolanaWorld
let first: SolanaRelay
let second: SolanaRelay
let wallet: KeyPairSigner
let sent: string
/** The chain is a few seconds old. */
let since: Date

const asIs: Manner = (_call, ask) => ask()
const changing =
  (asked: string, change: (result: never) => unknown): Manner =>
  async ({ method }, ask) =>
    method === asked ? change((await ask()) as never) : ask()

beforeAll(async () => {
  world = await startSolanaWorld()
  first = await startSolanaRelay(world.chain.url)
  second = await startSolanaRelay(world.chain.url)
  since = new Date()
  wallet = await world.wallet()
  const memo = getAddMemoInstruction({ memo: `${ID}#2` }, { programAddress: LEGACY_MEMO_PROGRAM_ADDRESS_V3 })
  const reference = await world.run(wallet, [memo])
  await world.settled(reference, 'finalized')
  sent = reference
})
afterAll(async () => {
  for (const part of [first, second, world]) await part.stop()
})

const find = async (id: string, manner: Manner) => {
  first.manner = asIs
  second.manner = manner
  const settings = { ...world.settings, rpcUrls: [first.url, second.url], minProviders: 2 }
  return solanaWalletSigner(settings).find?.(wallet.address, id, since)
}

test('the transaction of an attempt is found by the id of its action, and nothing by another id', async () => {
  expect(await find(ID, asIs)).toBe(sent)
  expect(await find('wop_0_054ax4hrsbnxl9vqe', asIs)).toBeUndefined()
})

test.each([
  ['leaves it out', changing('getSignaturesForAddress', () => []), 'contradict each other'],
  ['lists it and does not have it', changing('getTransaction', () => null), 'Too few'],
  [
    'deleted the blocks of that time',
    changing('getBlock', (block: object) => ({ ...block, blockTime: Math.floor(Date.now() / 1_000) + 60 })),
    'Too few',
  ],
] as const)('a provider that %s hides nothing', async (_, manner, message) => {
  await expect(find(ID, manner)).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining(message),
  })
})
