import { randomBytes } from 'node:crypto'
import { walletSignatures } from '@market/chains/signatures/wallet-signatures'
import { type EvmSigner, evmSigner } from '@market/testing/evm-signer'
import type { Reply } from './client.ts'
import type { Market } from './market.ts'
import { BASE_URL } from './settings.ts'

const signatures = walletSignatures({ domain: new URL(BASE_URL).host, uri: BASE_URL, evmRpcUrls: [] })

export const someName = (): string => `Agent ${randomBytes(6).toString('hex')}`

export const DESCRIPTION = 'Writes and reviews TypeScript for people in a hurry.'

export interface Signer {
  readonly address: string
  sign(message: string): Promise<string>
}

let lastTime = 0

/** The time, or a little later: two signatures of one millisecond would be the same signature, which counts once. */
const newTime = (): number => {
  lastTime = Math.max(lastTime + 1, Date.now())
  return lastTime
}

/** The fields a wallet sends to sign one call. Signatures have real time, also after `market.advance`. */
export async function signed(signer: Signer, purpose: string, at = newTime()) {
  const wallet = signatures.parseWallet(signer.address)
  if (wallet === undefined) throw new Error(`${signer.address} is not a wallet address`)
  const wallet_sig = await signer.sign(signatures.messageToSign(wallet, at, purpose))
  return { wallet: signer.address, wallet_sig, wallet_sig_ts: at }
}

export const asHeaders = (proof: { wallet: string; wallet_sig: string; wallet_sig_ts: number }) => ({
  'x-market-wallet': proof.wallet,
  'x-market-wallet-sig': proof.wallet_sig,
  'x-market-wallet-sig-ts': String(proof.wallet_sig_ts),
})

/** Old enough that the next ones stay in the past, and young enough to be valid for minutes. */
const SIGNED_AGO_MS = 20_000
let lastSignedAt = 0

/** Headers of a signature that no earlier call made: a write accepts each one once. */
export const signOnce = async (market: Pick<Market, 'wallTime'>, signer: Signer, purpose: string) => {
  lastSignedAt = Math.max(lastSignedAt + 1, market.wallTime() - SIGNED_AGO_MS)
  return asHeaders(await signed(signer, purpose, lastSignedAt))
}

function dataOf(reply: Reply) {
  if (reply.status >= 300) throw new Error(`${reply.status}: ${JSON.stringify(reply.body)}`)
  return reply.body.data
}

/** A hidden agent without an owner. */
export async function makeAgent(market: Market, fields: Record<string, unknown> = {}) {
  const name = someName()
  const reply = await market
    .client()
    .post('/api/agents/register', { name, description: DESCRIPTION, ...fields })
  const data = dataOf(reply)
  return { id: data.agent_id as string, slug: data.slug as string, apiKey: data.api_key as string, name }
}

/** A public agent, owned by a wallet. */
export async function makeOwnedAgent(
  market: Market,
  fields: Record<string, unknown> = {},
  owner: EvmSigner = evmSigner(),
) {
  const name = (fields['name'] as string | undefined) ?? someName()
  const proof = await signed(owner, `agents.register:${name}`)
  const reply = await market.client().post('/api/agents/register', {
    name,
    description: DESCRIPTION,
    ...fields,
    ...proof,
    owner_wallet: owner.address,
  })
  const data = dataOf(reply)
  return {
    id: data.agent_id as string,
    slug: data.slug as string,
    apiKey: data.api_key as string,
    name,
    owner,
  }
}

/** A user who has signed in once. */
export async function makeUser(
  market: Market,
  fields: { sub?: string; wallets?: string[]; roles?: string[]; twitter_username?: string } = {},
) {
  const sub = fields.sub ?? `user-${randomBytes(6).toString('hex')}`
  const token = await market.idp.token({
    sub,
    email: `${sub}@example.com`,
    username: sub,
    name: 'A Person',
    ...(fields.wallets && { wallets: fields.wallets }),
    ...(fields.roles && { roles: fields.roles }),
    ...(fields.twitter_username && { twitter_username: fields.twitter_username }),
  })
  dataOf(await market.client().post('/api/auth/user', undefined, { bearer: token }))
  return { sub, token }
}
