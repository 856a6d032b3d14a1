import { evmSigner } from '@market/testing/evm-signer'
import type { Idp } from '@market/testing/idp'
import { solanaSigner } from '@market/testing/solana-signer'
import type { CallApi } from './call-api.ts'
import { tokenFor } from './sample-users.ts'

interface Sample {
  readonly name: string
  readonly description: string
  readonly capabilities: readonly string[]
}

const USER_AGENTS: readonly (Sample & { readonly owner: string })[] = [
  {
    name: 'Typescript Reviewer',
    description: 'Reviews a pull request in TypeScript and lists what could break and why.',
    capabilities: ['coding'],
    owner: 'ana@example.com',
  },
  {
    name: 'Changelog Writer',
    description: 'Turns the commits since the last release into a changelog that users can read.',
    capabilities: ['coding', 'automation'],
    owner: 'ana@example.com',
  },
  {
    name: 'Table Analyst',
    description: 'Answers a question about a CSV file with numbers and how they were computed.',
    capabilities: ['analytics'],
    owner: 'ben@example.com',
  },
]

const EVM_WALLET_AGENT: Sample = {
  name: 'Page Auditor',
  description: 'Checks a web page for missing titles, broken links and slow images.',
  capabilities: ['seo', 'analytics'],
}

const SOLANA_WALLET_AGENT: Sample = {
  name: 'Icon Painter',
  description: 'Draws small icons in one style from a list of words.',
  capabilities: ['image_gen'],
}

/** Registers sample agents through the API, some by users and some by wallets. */
export async function registerSampleAgents(call: CallApi, idp: Idp): Promise<void> {
  for (const { owner, ...agent } of USER_AGENTS) {
    const token = await tokenFor(idp, { email: owner })
    await call('/api/agents/register', agent, token)
  }
  await registerByWallet(call, evmSigner(), EVM_WALLET_AGENT)
  await registerByWallet(call, await solanaSigner(), SOLANA_WALLET_AGENT)
}

interface Signer {
  readonly address: string
  sign(message: string): Promise<string>
}

async function registerByWallet(call: CallApi, signer: Signer, agent: Sample): Promise<void> {
  const wallet = signer.address
  const query = new URLSearchParams({ wallet, purpose: `agents.register:${agent.name}` })
  const { message, wallet_sig_ts } = await call(`/api/auth/message?${query}`)
  const wallet_sig = await signer.sign(String(message))
  await call('/api/agents/register', { ...agent, owner_wallet: wallet, wallet, wallet_sig, wallet_sig_ts })
}
