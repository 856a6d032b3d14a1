import { solanaWalletReader } from '@market/chains/solana/wallet/solana-wallet-reader'
import type { MintProof } from '@market/core/ports/agent-wallets'
import { address, generateKeyPairSigner, type KeyPairSigner, type Signature } from '@solana/kit'
import {
  getAllocateInstruction,
  getAssignInstruction,
  getCreateAccountInstruction,
  getTransferSolInstruction,
} from '@solana-program/system'
import {
  getInitializeMint2Instruction,
  getInitializeMintInstruction,
  getMintSize,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { InTrouble, type Manner, type SolanaRelay, startSolanaRelay } from './solana-relay.ts'
import { type ServerWallet, startWalletWorld, TOKEN, type WalletWorld } from './solana-wallet-support.ts'

let world: WalletWorld
let wallet: ServerWallet
let own: { readonly reference: string; readonly mint: string; readonly creator: string }
const relays: SolanaRelay[] = []

beforeAll(async () => {
  world = await startWalletWorld()
  wallet = await world.serverWallet()
  const { signed } = await world.execute(wallet, { kind: 'launch', token: TOKEN })
  own = { reference: signed.reference, mint: signed.mint ?? '', creator: wallet.address }
})
afterAll(() => world.stop())
afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.stop()))
})

const prove = (claim: Partial<typeof own>): Promise<MintProof> =>
  world.wallets.proveMint({ ...own, ...claim })

/** A reader whose nodes are relays, each with its own behavior. */
const readerOver = async (...manners: readonly Manner[]) => {
  const started = await Promise.all(manners.map(() => startSolanaRelay(world.chain.url)))
  relays.push(...started)
  for (const [index, relay] of started.entries()) relay.manner = manners[index] ?? relay.manner
  return solanaWalletReader({
    ...world.settings,
    rpcUrls: started.map(({ url }) => url),
    minProviders: manners.length,
  })
}
const honest: Manner = (_call, ask) => ask()

const final = async (signature: Signature): Promise<string> => {
  await world.settled(signature, 'finalized')
  return signature
}

const RENT = 1_461_600n
const newAccount = (payer: KeyPairSigner, mint: KeyPairSigner) =>
  getCreateAccountInstruction({
    payer,
    newAccount: mint,
    lamports: RENT,
    space: getMintSize(),
    programAddress: TOKEN_PROGRAM_ADDRESS,
  })
const initialized = (mint: KeyPairSigner) =>
  getInitializeMint2Instruction({ mint: mint.address, decimals: 6, mintAuthority: mint.address })

test('own launch and own identity are proven', async () => {
  expect(await prove({})).toBe('proven')
  const { signed } = await world.execute(wallet, { kind: 'identity', token: TOKEN })
  const identity = { reference: signed.reference, mint: signed.mint ?? '' }
  expect(await prove(identity)).toBe('proven')
  expect(await prove({ ...identity, mint: own.mint })).toBe('other_mint')
})

test('a mint of the Token program is proven, however its account was created', async () => {
  const creator = await world.wallet()
  const mints = await Promise.all([1, 2, 3].map(() => generateKeyPairSigner()))
  const [first, second, third] = mints as [KeyPairSigner, KeyPairSigner, KeyPairSigner]
  const old = { mint: second.address, decimals: 0, mintAuthority: creator.address }
  const reference = await final(
    await world.run(creator, [
      newAccount(creator, first),
      initialized(first),
      newAccount(creator, second),
      getInitializeMintInstruction(old),
      getTransferSolInstruction({ source: creator, destination: third.address, amount: RENT }),
      getAllocateInstruction({ newAccount: third, space: getMintSize() }),
      getAssignInstruction({ account: third, programAddress: TOKEN_PROGRAM_ADDRESS }),
      initialized(third),
    ]),
  )
  for (const { address: mint } of mints) {
    expect(await prove({ reference, mint, creator: creator.address })).toBe('proven')
  }
})

test('a mint that inner calls created is proven', async () => {
  const reader = await readerOver(async (call, ask) => {
    const response = await ask()
    if (call.method !== 'getTransaction') return response
    // As a launchpad does it: the creation of the mint is in the calls of its only instruction.
    const { transaction, meta, ...rest } = response as {
      readonly transaction: { readonly message: { readonly instructions: readonly unknown[] } }
      readonly meta: object
    }
    const { message } = transaction
    const [only, ...instructions] = message.instructions
    return {
      ...rest,
      transaction: { ...transaction, message: { ...message, instructions: [only] } },
      meta: { ...meta, innerInstructions: [{ index: 0, instructions }] },
    }
  })
  expect(await reader.proveMint(own)).toBe('proven')
  expect(await reader.proveMint({ ...own, mint: wallet.address })).toBe('other_mint')
})

test('another creator is rejected, also one that the transaction names', async () => {
  const other = await world.serverWallet()
  expect(await prove({ creator: other.address })).toBe('other_creator')
  expect(await prove({ creator: world.usdc.mint })).toBe('other_creator')
  expect(await prove({ creator: TOKEN_PROGRAM_ADDRESS })).toBe('other_creator')
})

test('another mint is rejected', async () => {
  expect(await prove({ mint: world.usdc.mint })).toBe('other_mint')
  expect(await prove({ mint: (await generateKeyPairSigner()).address })).toBe('other_mint')
})

test('an unrelated transaction that names the mint is rejected', async () => {
  const creator = await world.wallet()
  const gift = { source: creator, destination: address(own.mint), amount: 1n }
  const reference = await final(await world.run(creator, [getTransferSolInstruction(gift)]))
  expect(await prove({ reference, creator: creator.address })).toBe('other_mint')
})

test('creation and initialization must be in the same transaction', async () => {
  const creator = await world.wallet()
  const mint = await generateKeyPairSigner()
  const created = await final(await world.run(creator, [newAccount(creator, mint)]))
  const set = await final(await world.run(creator, [initialized(mint)]))
  const claim = { mint: mint.address, creator: creator.address }
  expect(await prove({ ...claim, reference: created })).toBe('other_mint')
  expect(await prove({ ...claim, reference: set })).toBe('other_mint')
})

test('a failed transaction is rejected', async () => {
  const { signed, outcome } = await world.execute(wallet, { kind: 'launch', token: TOKEN })
  expect(outcome.kind).toBe('failed')
  expect(signed.mint).toBe(own.mint)
  expect(await prove({ reference: signed.reference })).toBe('failed')
})

test('a reference that is unknown or not a signature is not found', async () => {
  const unsent = await world.sign(wallet, { kind: 'launch', token: TOKEN })
  for (const reference of [unsent.reference, '', 'x', '0x12', `${own.reference}1`]) {
    expect([reference, await prove({ reference })]).toEqual([reference, 'not_found'])
  }
})

test('a transaction in a block that is not final is not proven', async () => {
  const unfinal: Manner = async (call, ask) => {
    const response = await ask()
    if (call.method !== 'getSignatureStatuses') return response
    const { value, ...rest } = response as { readonly value: readonly object[] }
    return { ...rest, value: value.map((status) => ({ ...status, confirmationStatus: 'confirmed' })) }
  }
  expect(await (await readerOver(unfinal)).proveMint(own)).toBe('not_final')
  expect(await (await readerOver(honest, unfinal)).proveMint(own)).toBe('not_final')
})

test('as many providers as required must prove the mint', async () => {
  const lagging: Manner = async (call, ask) => {
    const response = await ask()
    return call.method === 'getSignatureStatuses' ? { ...(response as object), value: [null] } : response
  }
  const down: Manner = async () => {
    throw new InTrouble({ kind: 'reset' })
  }
  expect(await (await readerOver(honest, honest)).proveMint(own)).toBe('proven')
  expect(await (await readerOver(honest, lagging)).proveMint(own)).toBe('not_final')
  const other = { ...own, creator: world.usdc.mint }
  expect(await (await readerOver(lagging, honest)).proveMint(other)).toBe('other_creator')
  await expect((await readerOver(honest, down)).proveMint(own)).rejects.toMatchObject({ kind: 'unavailable' })
})
