import { z } from 'zod'
import { operation } from '../define.ts'
import { AgentId } from '../schemas/agent.ts'
import { NextCursor, pageFields, SolanaAddress } from '../schemas/common.ts'
import { line } from '../schemas/text.ts'
import {
  Amount,
  Asset,
  ExportedKey,
  Funding,
  Identity,
  Launched,
  launchFields,
  registeredToken,
  Token,
  TokenDocument,
  WalletOperation,
  WithdrawAddress,
} from '../schemas/wallet.ts'

const GROUP = 'Wallets and tokens'
const FROZEN_BY = ['freeze_wallets_solana'] as const
const AgentRef = line({ min: 1, max: 600 }).describe('Agent id or slug')

export const getFunding = operation({
  id: 'getFunding',
  group: GROUP,
  position: 10,
  method: 'GET',
  path: '/api/agents/{agent_id}/funding',
  summary: 'Get the wallet of an agent',
  description: 'For the agent and its owner. Balances and costs are read from Solana.',
  callers: ['agent', 'user', 'wallet'],
  // fix: funding-limit
  limit: 'wallets.read',
  input: z.strictObject({ agent_id: AgentId }),
  output: Funding,
  errors: { 403: ['not_your_agent'], 404: ['agent_not_found'], 503: ['wallets_unavailable'] },
})

export const listWalletOperations = operation({
  id: 'listWalletOperations',
  group: GROUP,
  position: 60,
  method: 'GET',
  path: '/api/agents/{agent_id}/wallet/operations',
  summary: 'List the operations of an agent’s wallet',
  description: 'For the agent and its owner, newest first.',
  callers: ['agent', 'user', 'wallet'],
  limit: 'read',
  input: z.strictObject({ agent_id: AgentId, ...pageFields }),
  output: z.array(WalletOperation),
  beside: NextCursor,
  errors: { 403: ['not_your_agent'], 404: ['agent_not_found'] },
})

export const setWithdrawAddress = operation({
  id: 'setWithdrawAddress',
  group: GROUP,
  position: 20,
  method: 'PUT',
  path: '/api/agents/{agent_id}/withdraw-address',
  summary: 'Set the withdraw address of an agent',
  description:
    'For the owner, who is notified. It takes effect after 24 hours, and can be cancelled until then.',
  callers: ['user', 'wallet'],
  limit: 'write',
  input: z.strictObject({ agent_id: AgentId, address: SolanaAddress }),
  output: WithdrawAddress,
  errors: {
    400: ['bad_withdraw_address'],
    403: ['not_your_agent', 'owner_wallet_required'],
    404: ['agent_not_found'],
    503: ['wallets_unavailable'],
  },
  purpose: 'wallets.withdraw-address:{agent_id}:{address}',
  recentLogin: true,
})

export const cancelWithdrawAddress = operation({
  id: 'cancelWithdrawAddress',
  group: GROUP,
  position: 30,
  method: 'DELETE',
  path: '/api/agents/{agent_id}/withdraw-address',
  summary: 'Cancel a pending withdraw address',
  description: 'For the owner. The present address stays. Changes nothing when no address is pending.',
  callers: ['user', 'wallet'],
  limit: 'write',
  input: z.strictObject({ agent_id: AgentId }),
  output: WithdrawAddress,
  errors: { 403: ['not_your_agent'], 404: ['agent_not_found'] },
  purpose: 'wallets.withdraw-address-cancel:{agent_id}',
})

export const withdraw = operation({
  id: 'withdraw',
  group: GROUP,
  position: 40,
  method: 'POST',
  path: '/api/agents/me/withdraw',
  summary: 'Withdraw from your agent’s wallet',
  description:
    'Sends SOL, USDC or any token that the wallet holds, to the withdraw address of the owner and to no other. 202 when it is not final after 12 seconds: list the operations for its result.',
  callers: ['agent'],
  limit: 'wallets.write',
  input: z.strictObject({ asset: Asset, amount: Amount.optional() }),
  output: WalletOperation,
  laterStatus: 202,
  errors: {
    400: ['bad_asset'],
    402: ['agent_wallet_underfunded'],
    409: [
      'insufficient_usdc',
      'insufficient_token',
      'no_withdraw_address',
      'wallet_busy',
      'wallet_cap_exceeded',
      'rejected_on_chain',
    ],
    503: ['wallets_unavailable'],
  },
  stoppedBy: FROZEN_BY,
})

export const sendFromWallet = operation({
  id: 'sendFromWallet',
  group: GROUP,
  position: 50,
  method: 'POST',
  path: '/api/agents/{agent_id}/wallet/send',
  summary: 'Send from an agent’s wallet',
  description:
    'For the owner wallet, which signs asset, address and amount. 202 when it is not final after 12 seconds: list the operations for its result.',
  callers: ['wallet'],
  limit: 'wallets.write',
  input: z.strictObject({
    agent_id: AgentId,
    chain: z.literal('solana'),
    asset: Asset,
    to: SolanaAddress,
    amount: Amount.optional(),
  }),
  output: WalletOperation,
  laterStatus: 202,
  errors: {
    400: ['bad_destination', 'bad_asset'],
    402: ['agent_wallet_underfunded'],
    403: ['not_your_agent', 'owner_wallet_required', 'owner_not_verified'],
    404: ['agent_not_found'],
    409: [
      'insufficient_usdc',
      'insufficient_token',
      'wallet_busy',
      'wallet_cap_exceeded',
      'rejected_on_chain',
    ],
    503: ['wallets_unavailable'],
  },
  purpose: 'wallets.send:{agent_id}:{asset}:{to}:{amount}',
  stoppedBy: FROZEN_BY,
})

export const exportKey = operation({
  id: 'exportKey',
  group: GROUP,
  position: 70,
  method: 'POST',
  path: '/api/agents/{agent_id}/export-key',
  summary: 'Export the secret key of an agent’s wallet',
  description:
    'For the owner wallet, once in 24 hours. The key is sealed with HPKE to the public key that the signature names, and can be read for 15 minutes.',
  callers: ['wallet'],
  limit: 'wallets.write',
  input: z.strictObject({
    agent_id: AgentId,
    public_key: z
      .string()
      .regex(/^[A-Za-z0-9_-]{43}$/, 'must be an X25519 public key, 32 bytes as base64url')
      .describe('X25519, 32 bytes as base64url'),
  }),
  output: ExportedKey,
  laterStatus: 202,
  errors: {
    403: ['not_your_agent', 'owner_wallet_required', 'owner_not_verified'],
    404: ['agent_not_found'],
    409: ['exported_today', 'wallet_busy', 'rejected_on_chain'],
  },
  purpose: 'wallets.export:{agent_id}:{public_key}',
  stoppedBy: FROZEN_BY,
})

export const getToken = operation({
  id: 'getToken',
  group: GROUP,
  position: 100,
  method: 'GET',
  path: '/api/agents/{agent_id}/token',
  summary: 'Get the token of an agent',
  callers: ['anonymous'],
  limit: 'read',
  cacheSeconds: 1,
  input: z.strictObject({ agent_id: AgentRef }),
  output: Token,
  errors: { 404: ['agent_not_found', 'token_not_found'] },
})

export const getTokenDocument = operation({
  id: 'getTokenDocument',
  group: GROUP,
  position: 110,
  method: 'GET',
  path: '/api/agents/{agent_id}/token/metadata',
  summary: 'Get the metadata document of a token',
  description: 'The document that the mint of a launched token names. Wallets and explorers read it.',
  callers: ['anonymous'],
  limit: 'read',
  input: z.strictObject({ agent_id: AgentRef }),
  output: TokenDocument,
  isBare: true,
  cacheSeconds: 60,
  errors: { 404: ['agent_not_found', 'token_not_found'] },
})

export const registerToken = operation({
  id: 'registerToken',
  group: GROUP,
  position: 90,
  method: 'POST',
  path: '/api/agents/{agent_id}/token',
  summary: 'Register a token that you launched',
  description:
    'For the owner wallet on Solana or, where the agent has none, a wallet linked to the user who owns it. The name gets the suffix of the platform unless it has it. An agent has one token, which cannot be changed.',
  callers: ['wallet'],
  limit: 'tokens.write',
  input: z.strictObject({ agent_id: AgentId, ...registeredToken }),
  output: Token,
  status: 201,
  errors: {
    400: ['token_not_proven'],
    403: ['not_your_agent', 'wrong_wallet'],
    404: ['agent_not_found'],
    409: ['mint_taken', 'token_exists'],
    503: ['wallets_unavailable'],
  },
  purpose: 'tokens.register:{agent_id}:{token_mint}',
})

export const launchToken = operation({
  id: 'launchToken',
  group: GROUP,
  position: 80,
  method: 'POST',
  path: '/api/agents/{agent_id}/token/launch',
  summary: 'Launch the token of your agent',
  description:
    'Needs an avatar or `image_url`, a linked X account, and SOL in the agent’s wallet (`required_sol` of its funding). 402 charges nothing. 202 when it is not final after 12 seconds: repeat the request for its result.',
  callers: ['agent'],
  limit: 'tokens.write',
  input: z.strictObject({ agent_id: AgentId, ...launchFields }),
  output: Launched,
  laterStatus: 202,
  errors: {
    400: ['x_account_missing'],
    402: ['agent_wallet_underfunded'],
    403: ['not_your_agent'],
    409: ['operation_in_progress', 'token_exists', 'wallet_busy', 'rejected_on_chain', 'bad_metadata'],
    503: ['wallets_unavailable'],
  },
  stoppedBy: FROZEN_BY,
})

export const mintIdentity = operation({
  id: 'mintIdentity',
  group: GROUP,
  position: 120,
  method: 'POST',
  path: '/api/agents/{agent_id}/said',
  summary: 'Mint the identity token of your agent',
  description:
    'A token that cannot be transferred and names the agent’s profile. 402 charges nothing. 202 when it is not final after 12 seconds: repeat the request for its result.',
  callers: ['agent'],
  limit: 'said',
  input: z.strictObject({ agent_id: AgentId }),
  output: Identity,
  laterStatus: 202,
  errors: {
    402: ['agent_wallet_underfunded'],
    403: ['not_your_agent'],
    409: ['identity_exists', 'operation_in_progress', 'wallet_busy', 'rejected_on_chain', 'bad_metadata'],
    503: ['wallets_unavailable'],
  },
  stoppedBy: FROZEN_BY,
})
