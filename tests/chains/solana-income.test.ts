import { MEMO_PROGRAM } from '@market/chains/solana/sign-payout'
import { solanaWalletReader } from '@market/chains/solana/wallet/solana-wallet-reader'
import type { Income, WalletReader } from '@market/core/ports/agent-wallets'
import { address, type Instruction, type KeyPairSigner, lamports } from '@solana/kit'
import { getAddMemoInstruction } from '@solana-program/memo'
import { getTransferSolInstruction } from '@solana-program/system'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { InTrouble, type Manner, type SolanaRelay, startSolanaRelay } from './solana-relay.ts'
import { type SolanaWorld, startSolanaWorld } from './solana-support.ts'

const AMOUNT = 5_000_000n
const FEE = 5_000n
/** Of a query that names neither a payer nor a mint. */
const FINAL = { kind: 'final', paid: 0n, namesMint: false }

let world: SolanaWorld
let payer: KeyPairSigner
let wallet: string
let reference: string
const relays: SolanaRelay[] = []

const pay = (source: KeyPairSigner, to: string, amount = AMOUNT): Instruction =>
  getTransferSolInstruction({ source, destination: address(to), amount: lamports(amount) })

/** Runs until the chain cannot revert it. */
const finalize = async (feePayer: KeyPairSigner, ...instructions: Instruction[]): Promise<string> => {
  const signature = await world.send(feePayer, instructions)
  await world.settled(signature, 'finalized')
  return signature
}

beforeAll(async () => {
  world = await startSolanaWorld()
  payer = await world.wallet()
  wallet = (await world.wallet()).address
  reference = await finalize(payer, pay(payer, wallet))
})
afterAll(() => world.stop())
afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.stop()))
})

/** What nodes with these manners say, all of which must agree. */
const readOver = async (...manners: readonly Manner[]): Promise<Income> => {
  const started = await Promise.all(manners.map(() => startSolanaRelay(world.chain.url)))
  relays.push(...started)
  for (const [index, relay] of started.entries()) relay.manner = manners[index] ?? relay.manner
  const rpcUrls = started.map(({ url }) => url)
  const reader = solanaWalletReader({ ...world.settings, rpcUrls, minProviders: manners.length })
  return reader.readIncome({ reference, wallet })
}
const read = (query: Partial<Parameters<WalletReader['readIncome']>[0]> = {}): Promise<Income> =>
  solanaWalletReader(world.settings).readIncome({ reference, wallet, ...query })

const honest: Manner = (_call, ask) => ask()
const changing =
  (method: string, change: (response: never) => unknown): Manner =>
  async (call, ask) =>
    call.method === method ? change((await ask()) as never) : ask()

test('income is what the balance of the wallet grew by', async () => {
  expect(await read()).toEqual({ ...FINAL, lamports: AMOUNT })
})

test('the transfers of a transaction are summed', async () => {
  const two = await finalize(payer, pay(payer, wallet, 1n), pay(payer, wallet, 2n))
  expect(await read({ reference: two })).toEqual({ ...FINAL, lamports: 3n })
})

test('income of the sender is negative, with the fee that it paid', async () => {
  expect(await read({ wallet: payer.address })).toEqual({ ...FINAL, lamports: -AMOUNT - FEE })
})

test('only transfers of the payer count as paid, whoever else pays the wallet in the same transaction', async () => {
  const other = await world.wallet()
  const both = await finalize(payer, pay(payer, wallet, 1n), pay(other, wallet, 2n), pay(payer, wallet, 4n))
  expect(await read({ reference: both, payer: payer.address })).toEqual({ ...FINAL, lamports: 7n, paid: 5n })
  expect(await read({ reference: both, payer: other.address })).toEqual({ ...FINAL, lamports: 7n, paid: 2n })
  expect(await read({ reference: both, payer: wallet })).toEqual({ ...FINAL, lamports: 7n })
})

test('a transaction names a mint as an account, or as the whole text of a memo', async () => {
  const mint = world.usdc.mint
  const memo = (text: string) => getAddMemoInstruction({ memo: text }, { programAddress: MEMO_PROGRAM })
  expect(await read({ reference: await finalize(payer, memo(mint)), mint })).toMatchObject({
    namesMint: true,
  })
  expect(await read({ reference: await finalize(payer, memo(`for ${mint}`)), mint })).toMatchObject({
    namesMint: false,
  })
  const opened = await finalize(payer, await world.openAccount(payer, (await world.wallet()).address))
  expect(await read({ reference: opened, mint })).toMatchObject({ namesMint: true })
  expect(await read({ reference: opened, mint: wallet })).toMatchObject({ namesMint: false })
})

test('a wallet that the transaction does not name gets nothing', async () => {
  const other = await world.wallet()
  expect(await read({ wallet: other.address })).toEqual({ ...FINAL, lamports: 0n })
})

test('a failed transaction has no income', async () => {
  const poor = await world.wallet()
  const failed = await finalize(poor, pay(poor, wallet, 1_000_000_000_000_000n))
  expect(await read({ reference: failed })).toEqual({ kind: 'failed' })
})

test('a reference that is unknown or not a signature is not found', async () => {
  for (const unknown of ['', 'x', '0x12', `${reference}1`])
    expect(await read({ reference: unknown })).toEqual({ kind: 'not_found' })
})

test('a transaction that is confirmed and not finalized is not final', async () => {
  const unfinal = changing(
    'getSignatureStatuses',
    ({ value, ...rest }: { readonly value: readonly object[] }) => ({
      ...rest,
      value: value.map((status) => ({ ...status, confirmationStatus: 'confirmed' })),
    }),
  )
  expect(await readOver(unfinal)).toEqual({ kind: 'not_final' })
  expect(await readOver(honest, unfinal)).toEqual({ kind: 'not_final' })
})

test('as many providers as required must say the same amount', async () => {
  const lagging = changing('getSignatureStatuses', (response: object) => ({ ...response, value: [null] }))
  const generous = changing('getTransaction', (response: { readonly meta: object }) => ({
    ...response,
    meta: {
      ...response.meta,
      preBalances: (response.meta as { preBalances: readonly number[] }).preBalances.map(() => 0),
    },
  }))
  const down: Manner = async () => {
    throw new InTrouble({ kind: 'reset' })
  }
  expect(await readOver(honest, honest)).toEqual({ ...FINAL, lamports: AMOUNT })
  expect(await readOver(honest, lagging)).toEqual({ kind: 'not_final' })
  expect(await readOver(honest, generous)).toEqual({ kind: 'not_final' })
  expect(await readOver(lagging, lagging)).toEqual({ kind: 'not_found' })
  await expect(readOver(honest, down)).rejects.toMatchObject({ kind: 'unavailable' })
})
