import { recordActivity } from '@market/core/activity'
import type { Needs } from '@market/core/context'
import type { TokenMetadata } from '@market/core/ports/agent-wallets'
import type { Tx } from '@market/database/transact'
import { type Agent, lockAgentOfKey, saveMint } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import {
  addressOf,
  findLastWalletTransaction,
  type RequestContext,
  requestWalletTransaction,
  requireMintFunds,
  type Task,
  tokenUri,
  type WalletServices,
  type WalletTransaction,
  type WalletTransactionListener,
  wasAnsweredLater,
} from '../wallets/index.ts'
import { tokenExists } from './register-token.ts'
import { findToken, insertToken } from './store.ts'
import { shorten, type TokenSettings, withSuffix } from './token.ts'

type Ctx = RequestContext & Needs<'db' | 'baseUrl' | 'resultWaitMs'> & WalletServices

type Launch = Extract<Task, { kind: 'launch' }>

/**
 * Launches the token of an agent from its server wallet. Nothing is charged when the wallet cannot pay for it. A request
 * that was answered with 202 gets the result when it is repeated.
 */
export async function launchToken(
  ctx: Ctx & TokenSettings,
  agent: Agent,
  wanted: {
    readonly symbol: string
    readonly description?: string | undefined
    readonly imageUrl?: string | undefined
  },
): Promise<WalletTransaction> {
  const repeated = await findLastWalletTransaction(ctx.db, agent.id, 'launch')
  if (repeated === undefined && agent.tokenMint !== null) throw tokenExists()
  const task = launchOf(ctx, agent, wanted)
  if (repeated === undefined) await requireMintFunds(ctx, await addressOf(ctx.db, agent.id), 'launch')
  return ctx.transact(async (tx) => {
    await lockAgentOfKey(tx, agent.id, agent.apiKeyHint)
    const before = await findLastWalletTransaction(tx, agent.id, 'launch')
    if (before !== undefined) return resultFor(ctx, before, (old) => isSameLaunch(old, task))
    if ((await findToken(tx, agent.id)) !== undefined) throw tokenExists()
    return requestWalletTransaction(ctx, tx, agent.id, task)
  })
}

/** Mints the non-transferable identity token of an agent, which names the agent's profile. */
export async function mintIdentity(ctx: Ctx, agent: Agent): Promise<WalletTransaction> {
  const repeated = await findLastWalletTransaction(ctx.db, agent.id, 'identity')
  if (repeated === undefined) await requireMintFunds(ctx, await addressOf(ctx.db, agent.id), 'identity')
  const token: TokenMetadata = {
    name: shorten(agent.name),
    symbol: IDENTITY_SYMBOL,
    uri: tokenUri(ctx.baseUrl, agent.id, 'identity'),
  }
  return ctx.transact(async (tx) => {
    await lockAgentOfKey(tx, agent.id, agent.apiKeyHint)
    const before = await findLastWalletTransaction(tx, agent.id, 'identity')
    if (before !== undefined) return resultFor(ctx, before, () => true)
    return requestWalletTransaction(ctx, tx, agent.id, { kind: 'identity', token })
  })
}

const IDENTITY_SYMBOL = 'SAID'
const MIN_DESCRIPTION = 20

/** Checks what the specification requires before anything is read from the chain. */
function launchOf(
  { baseUrl, tokenSuffix }: Pick<Ctx, 'baseUrl'> & TokenSettings,
  agent: Agent,
  wanted: Parameters<typeof launchToken>[2],
): Launch {
  const description = wanted.description ?? agent.description
  if ([...description].length < MIN_DESCRIPTION)
    throw invalid('description', `needs at least ${MIN_DESCRIPTION} characters, here or on the agent`)
  const imageUrl = wanted.imageUrl ?? agent.avatarUrl
  if (imageUrl === null) throw invalid('image_url', 'is required while the agent has no avatar_url')
  if (agent.twitterUsername === null) throw xAccountMissing()
  return {
    kind: 'launch',
    description,
    imageUrl,
    token: {
      name: withSuffix(agent.name, tokenSuffix),
      symbol: wanted.symbol,
      uri: tokenUri(baseUrl, agent.id, 'launch'),
    },
  }
}

/** A concurrent request and one after a response with the result are conflicts; one after 202 gets the result. */
function resultFor(
  { clock, resultWaitMs }: Needs<'clock' | 'resultWaitMs'>,
  operation: WalletTransaction,
  isSame: (task: Task) => boolean,
): WalletTransaction {
  if (wasAnsweredLater(operation, clock.now(), resultWaitMs) && isSame(operation.task)) return operation
  throw operation.status === 'done' ? alreadyMinted(operation) : inProgress(operation)
}

const isSameLaunch = (before: Task, { token, description, imageUrl }: Launch): boolean =>
  before.kind === 'launch' &&
  before.token.symbol === token.symbol &&
  before.description === description &&
  before.imageUrl === imageUrl

/** Shows the minted token or identity on the profile, in the transaction that ends the operation. */
export const tokenListener: WalletTransactionListener = {
  async onDone(ctx, tx, operation) {
    const { agentId, task, mint } = operation
    if (mint === null) return
    if (task.kind === 'launch') await saveLaunched(ctx, tx, { ...operation, mint }, task)
    if (task.kind === 'identity') await saveMint(tx, agentId, { identity_mint: mint }, ctx.clock.now())
  },
}

async function saveLaunched(
  ctx: Needs<'clock'>,
  tx: Tx,
  { id, agentId, wallet, reference, mint }: WalletTransaction & { readonly mint: string },
  { token, description, imageUrl }: Launch,
): Promise<void> {
  const now = ctx.clock.now()
  await insertToken(tx, {
    agentId,
    mint,
    name: token.name,
    symbol: token.symbol,
    mode: 'token2022',
    creatorWallet: wallet,
    imageUrl,
    description,
    txHash: reference,
    createdAt: now,
  })
  await saveMint(tx, agentId, { token_mint: mint }, now)
  await recordActivity(tx, 'token_launch', { id, agentId, createdAt: now })
}

const invalid = (path: string, message: string): ApiError =>
  new ApiError('invalid', `${path} ${message}.`, { details: [{ path, message }] })

const xAccountMissing = (): ApiError =>
  new ApiError(
    'invalid',
    'A launch needs a linked X account. The owner links one at the identity provider and signs in again; then the agent has a twitter_username.',
    { code: 'x_account_missing' },
  )

const inProgress = ({ id }: WalletTransaction): ApiError =>
  new ApiError(
    'conflict',
    'This is already in progress. Read GET /api/agents/{agent_id}/wallet/operations for the result.',
    { code: 'operation_in_progress', fields: { operation_id: id } },
  )

const alreadyMinted = ({ task }: WalletTransaction): ApiError =>
  task.kind === 'launch'
    ? tokenExists()
    : new ApiError('conflict', 'This agent has its identity token. Read identity_mint of its profile.', {
        code: 'identity_exists',
      })
