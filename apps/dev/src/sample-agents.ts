import { evmSigner } from '@market/testing/evm-signer'
import type { Idp } from '@market/testing/idp'
import { solanaSigner } from '@market/testing/solana-signer'
import type { CallApi } from './call-api.ts'
import type { Networks } from './networks/start-networks.ts'
import { tokenFor } from './sample-users.ts'

interface Sample {
  readonly name: string
  readonly description: string
  readonly capabilities: readonly string[]
  readonly service: Readonly<Record<string, unknown>>
}

/** A service of the sample agent whose program delivers. `--json` prints it. */
export interface SampleService {
  readonly id: string
  readonly agent_id: string
  readonly price_usd: string
}

const TEXT_ANALYST: Sample = {
  name: 'Text Analyst',
  description: 'Counts the words and sentences of your brief and estimates how long it takes to read it.',
  capabilities: ['analytics'],
  service: {
    category: 'analytics',
    title: 'Statistics of a text',
    description:
      'I count the words and sentences of your brief and estimate its reading time. Delivered at once.',
    price_type: 'fixed',
    // With the x402 fee below one dollar, the most that x402 clients pay by default.
    price_usd: '0.50',
  },
}

const USER_AGENTS: readonly (Sample & { readonly owner: string })[] = [
  {
    name: 'Typescript Reviewer',
    description: 'Reviews a pull request in TypeScript and lists what could break and why.',
    capabilities: ['coding'],
    owner: 'ana@example.com',
    service: {
      category: 'coding',
      title: 'Review of one pull request',
      description:
        'I read one pull request in TypeScript and list what could break, with the reason for each.',
      price_type: 'fixed',
      price_usd: '20.00',
    },
  },
  {
    name: 'Changelog Writer',
    description: 'Turns the commits since the last release into a changelog that users can read.',
    capabilities: ['coding', 'automation'],
    owner: 'ana@example.com',
    service: {
      category: 'automation',
      title: 'Changelog of one release',
      description:
        'I turn the commits since your last release into a changelog that users of your product can read.',
      price_type: 'fixed',
      price_usd: '8.00',
    },
  },
]

const EVM_WALLET_AGENT: Sample = {
  name: 'Page Auditor',
  description: 'Checks a web page for missing titles, broken links and slow images.',
  capabilities: ['seo', 'analytics'],
  service: {
    category: 'seo',
    title: 'Audit of one web page',
    description:
      'I check one web page for missing titles, broken links and slow images, and list what to change.',
    price_type: 'fixed',
    price_usd: '5.00',
  },
}

const SOLANA_WALLET_AGENT: Sample = {
  name: 'Icon Painter',
  description: 'Draws small icons in one style from a list of words.',
  capabilities: ['image_gen'],
  service: {
    category: 'image_gen',
    title: 'A set of icons',
    description:
      'I draw small icons in one style from your list of words. You get a price after I have read it.',
    price_type: 'quote',
  },
}

/**
 * Registers sample agents with services through the API, some by users and some by wallets. Returns the one whose program
 * delivers.
 */
export async function registerSampleAgents(
  call: CallApi,
  idp: Idp,
  networks: Networks | undefined,
): Promise<{ apiKey: string; service: SampleService }> {
  const byUser = async ({ owner, service, ...agent }: (typeof USER_AGENTS)[number]) => {
    const registered = await call('/api/agents/register', agent)
    // Before it has an owner, because a change waits a day afterwards.
    const { api_key } = registered
    await call('/api/agents/me', await payoutAddresses(networks), String(api_key), 'PATCH')
    await call('/api/agents/link', { api_key }, await tokenFor(idp, { email: owner }))
    return offer(call, registered, service)
  }
  for (const agent of USER_AGENTS) await byUser(agent)
  await registerByWallet(call, evmSigner(), EVM_WALLET_AGENT)
  await registerByWallet(call, await solanaSigner(), SOLANA_WALLET_AGENT)
  return registerPayable(call, evmSigner(), TEXT_ANALYST, networks)
}

interface Signer {
  readonly address: string
  sign(message: string): Promise<string>
}

async function registerByWallet(call: CallApi, signer: Signer, { service, ...agent }: Sample): Promise<void> {
  const proof = await ownerProof(call, signer, `agents.register:${agent.name}`)
  await offer(call, await call('/api/agents/register', { ...agent, ...proof }), service)
}

/** An agent that can be paid on every network: on the third one only the wallet of an owner who signed is paid. */
async function registerPayable(
  call: CallApi,
  signer: Signer,
  { service, ...agent }: Sample,
  networks: Networks | undefined,
) {
  const registered = await call('/api/agents/register', agent)
  const proof = await ownerProof(call, signer, `agents.owner:${registered['agent_id']}`)
  const addresses = await payoutAddresses(networks)
  await call('/api/agents/me', { ...addresses, ...proof }, String(registered['api_key']), 'PATCH')
  return offer(call, registered, service)
}

async function ownerProof(call: CallApi, signer: Signer, purpose: string) {
  const wallet = signer.address
  const query = new URLSearchParams({ wallet, purpose })
  const { message, wallet_sig_ts } = await call(`/api/auth/message?${query}`)
  return { owner_wallet: wallet, wallet, wallet_sig: await signer.sign(String(message)), wallet_sig_ts }
}

async function offer(
  call: CallApi,
  { agent_id, api_key }: Readonly<Record<string, unknown>>,
  service: Sample['service'],
) {
  const apiKey = String(api_key)
  const { id, price_usd } = await call(`/api/agents/${agent_id}/services`, service, apiKey)
  return { apiKey, service: { id: String(id), agent_id: String(agent_id), price_usd: String(price_usd) } }
}

async function payoutAddresses(networks: Networks | undefined) {
  const [base, solana] = [evmSigner().address, (await solanaSigner()).address]
  // With a USDC account on Solana, payouts below the minimum for opening one are sent too.
  if (networks?.addresses['solana-mainnet'] !== undefined)
    await networks.fund('solana-mainnet', solana, { usdc: 1n, native: 0n })
  return { payout_address_base: base, payout_wallet: solana }
}
