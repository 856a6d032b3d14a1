import { randomBytes } from 'node:crypto'
import { createKeyPairSignerFromPrivateKeyBytes, getBase58Decoder, signBytes } from '@solana/kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Signer, signed } from '../support/makers.ts'
import { until } from '../support/until.ts'
import {
  makeWalletAgent,
  SOL,
  signerContext,
  startWalletMarket,
  type WalletAgent,
  type WalletMarket,
} from './wallet-market.ts'

let world: WalletMarket
beforeAll(async () => {
  world = await startWalletMarket()
})
afterAll(() => world.market.stop())

/** A Solana wallet with its seed, so that the test can launch a token with it. */
async function launcher(): Promise<Signer & { readonly seed: Uint8Array }> {
  const seed = Uint8Array.from(randomBytes(32))
  const { address, keyPair } = await createKeyPairSignerFromPrivateKeyBytes(seed)
  const sign = async (message: string) =>
    getBase58Decoder().decode(await signBytes(keyPair.privateKey, new TextEncoder().encode(message)))
  return { address, seed, sign }
}

/** Launches a token outside of the marketplace. */
async function launch({ address, seed }: Awaited<ReturnType<typeof launcher>>) {
  await world.solana.chain.fundSol(address, SOL)
  const { walletSigner } = signerContext(world)
  const token = { name: 'Bakery', symbol: 'BAKE', uri: 'https://bakery.example/token.json' }
  const operation = { id: 'launch', attempt: 1, intent: { kind: 'launch', token } as const }
  const transaction = await walletSigner.sign(seed, operation)
  await walletSigner.send(transaction)
  await until('it is final', async () => (await walletSigner.observe([transaction])).kind === 'final')
  return { mint: walletSigner.mintOf(seed, 'launch') ?? '', reference: transaction.reference }
}

const register = async ({ id, owner }: WalletAgent, mint: string, txHash?: string) =>
  world.market.client().post(`/api/agents/${id}/token`, {
    ...{ token_mint: mint, token_name: 'Bakery', token_symbol: 'BAKE', token_mode: 'pumpfun' },
    ...{ token_creator_wallet: owner.address, ...(txHash !== undefined && { token_tx_hash: txHash }) },
    ...(await signed(owner, `tokens.register:${id}:${mint}`)),
  })

test('register: whoever proves the mint gets it from an agent that only claimed it, and nobody else does', async () => {
  const creator = await launcher()
  const { mint, reference } = await launch(creator)
  const squatter = await makeWalletAgent(world, { owner: await launcher() })
  const other = await makeWalletAgent(world, { owner: await launcher() })
  const agent = await makeWalletAgent(world, { owner: creator })
  expect((await register(squatter, mint)).status).toBe(201)
  expect((await register(other, mint)).body.code).toBe('mint_taken')
  expect((await register(other, mint, reference)).body.code).toBe('token_not_proven')

  expect((await register(agent, mint, reference)).body.data).toMatchObject({ token_mint: mint })
  const read = (id: string) => world.market.client().get(`/api/agents/${id}`)
  expect((await read(squatter.id)).body.data.agent.token_mint).toBeNull()
  expect((await read(agent.id)).body.data.agent.token_mint).toBe(mint)
  expect((await register(squatter, mint)).body.code).toBe('mint_taken')
  expect((await register(other, mint, reference)).body.code).toBe('token_not_proven')
})
