import { recordActivity } from '@market/core/activity'
import { record } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import type { MintProof } from '@market/core/ports/agent-wallets'
import type { Wallet } from '@market/core/ports/signatures'
import type { Tx } from '@market/database/transact'
import { findUserOfWallet } from '@market/identity/accounts'
import { lockOwnedAgent, saveMint } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId } from '@market/kernel/ids'
import {
  findLastWalletTransaction,
  isMintOfWallet,
  requireReader,
  type WalletServices,
} from '../wallets/index.ts'
import { deleteUnproven, findToken, insertToken } from './store.ts'
import { type Token, type TokenSettings, withSuffix } from './token.ts'

type Registration = Omit<Token, 'agentId' | 'mode' | 'description' | 'createdAt'>

/** Registers a token that the owner launched elsewhere, under its name with the platform's suffix. With `txHash` it is proven on chain. */
export async function registerToken(
  ctx: Needs<'transact' | 'db' | 'clock' | 'vault' | 'actor' | 'requestId'> &
    Pick<WalletServices, 'wallets'> &
    TokenSettings,
  agentId: AgentId,
  signer: Wallet,
  token: Registration,
): Promise<Token> {
  if (token.creatorWallet !== signer.key) throw otherCreator()
  const name = withSuffix(token.name, ctx.tokenSuffix)
  if (token.txHash !== null) await requireProof(ctx, { ...token, txHash: token.txHash })
  return ctx.transact(async (tx) => {
    // fix: linked-wallet-registers
    const userId = await findUserOfWallet(tx, signer.key)
    const owner = { wallets: [signer], ...(userId !== undefined && { userId }) }
    const agent = await lockOwnedAgent(tx, agentId, owner)
    if (agent.ownerWallet !== null && agent.ownerWallet !== signer.key) throw otherCreator()
    const launch = await findLastWalletTransaction(tx, agentId, 'launch')
    if (launch !== undefined || (await findToken(tx, agentId)) !== undefined) throw tokenExists()
    const now = ctx.clock.now()
    // fix: registered-suffix
    const registered: Token = { ...token, name, agentId, mode: 'pumpfun', description: null, createdAt: now }
    if (token.txHash !== null) await removeUnproven(tx, token.mint, now)
    // A launch that is not final yet has no token, but its mint can be seen on chain.
    if ((await isMintOfWallet(tx, token.mint)) || !(await insertToken(tx, registered))) throw mintTaken()
    await saveMint(tx, agentId, { token_mint: token.mint }, now)
    await recordActivity(tx, 'token_launch', { id: `${agentId}:token`, agentId, createdAt: now })
    await record(ctx, tx, { act: 'tokens.register', subject: agentId, details: { mint: token.mint } })
    return registered
  })
}

/** Whoever proves to have created the mint gets it from an agent that only claimed it. */
async function removeUnproven(tx: Tx, mint: string, at: Date): Promise<void> {
  const agentId = await deleteUnproven(tx, mint)
  if (agentId !== undefined) await saveMint(tx, agentId, { token_mint: null }, at)
}

/** Why a transaction does not prove the token. `not_final` can change, so it is no error of the caller. */
const UNPROVEN: Readonly<Record<Exclude<MintProof, 'proven'>, string>> = {
  not_found: 'is not a transaction on solana-mainnet that our nodes know. Check it, or try again in a minute',
  not_final: 'is not final yet. Try again in a minute',
  failed: 'failed on chain, so it created nothing',
  other_creator: 'is not signed by token_creator_wallet',
  other_mint: 'did not create token_mint',
}

async function requireProof(
  ctx: Pick<WalletServices, 'wallets'>,
  { mint, creatorWallet, txHash }: Registration & { readonly txHash: string },
): Promise<void> {
  const proof = await requireReader(ctx).proveMint({ reference: txHash, mint, creator: creatorWallet })
  if (proof === 'proven') return
  throw new ApiError('invalid', `token_tx_hash ${UNPROVEN[proof]}.`, {
    code: 'token_not_proven',
    details: [{ path: 'token_tx_hash', message: UNPROVEN[proof] }],
  })
}

export const tokenExists = (): ApiError =>
  new ApiError(
    'conflict',
    'This agent already has a token. An agent has one token, which cannot be changed.',
    {
      code: 'token_exists',
    },
  )

const mintTaken = (): ApiError =>
  new ApiError('conflict', 'token_mint is the token of another agent.', { code: 'mint_taken' })

const otherCreator = (): ApiError =>
  new ApiError(
    'forbidden',
    'token_creator_wallet must be the wallet that signs, and the owner wallet of the agent where it has one.',
    { code: 'wrong_wallet' },
  )
