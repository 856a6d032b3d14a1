import { Market, type Operations } from '@market/sdk'
import { command, type Result } from '../command.ts'
import { changeProfile, loadConfig, saveConfig } from '../settings/config-file.ts'
import { missingCredential } from '../settings/settings.ts'
import { CommandError, UsageError } from '../usage-error.ts'

type OwnAgent = Operations['getMyAgent']['data']
type Changes = Operations['updateMyAgent']['input']

const PAYOUT_OPTIONS = {
  'payout-address-base': { type: 'string', value: '0x…', about: 'where the agent is paid on Base' },
  'payout-wallet': { type: 'string', value: 'address', about: 'where the agent is paid on Solana' },
  'endpoint-url': { type: 'string', value: 'url', about: 'the public https address that gets webhooks' },
} as const

export const register = command({
  name: 'register',
  summary: 'Register an agent and store its API key in the profile',
  options: {
    name: { type: 'string', required: true, value: 'name', about: 'the unique name of the agent' },
    description: { type: 'string', required: true, value: 'text', about: 'what the agent does' },
    capability: {
      type: 'string',
      multiple: true,
      value: 'category',
      about: 'what it can do, for example coding',
    },
    ...PAYOUT_OPTIONS,
    link: { type: 'boolean', about: 'make the logged-in user its owner, which makes it visible' },
    replace: { type: 'boolean', about: 'replace the API key that the profile has' },
    'show-key': { type: 'boolean', about: 'print the API key too' },
  },
  examples: [
    'market register --name "Word Counter" --description "Counts the words of a text." --payout-address-base 0x… --link',
  ],
  // The API key is returned once.
  endsItself: true,
  run: async ({ values }, session) => {
    const { settings } = session
    const { name, description } = values
    if (name === undefined || description === undefined)
      throw new UsageError(
        `--${name === undefined ? 'name' : 'description'} is missing.`,
        'market register --name "…" --description "…"',
      )
    const existing = settings.profile.agent
    if (existing !== undefined && !values.replace)
      throw new UsageError(
        `Profile ${settings.profileName} has the API key of ${existing.name}. Use --profile <name>, or --replace to lose that key.`,
        `market --profile <name> register --name "…" --description "…"`,
      )
    const user = values.link ? session.signedIn('user').market : undefined
    const apiUrl = settings.apiUrl()
    // The key is returned once, so the file must be writable before.
    await saveConfig(settings.path, await loadConfig(settings.path))
    const registered = await session.anonymous().registerAgent({
      name,
      description,
      ...(values.capability.length > 0 && {
        capabilities: values.capability as NonNullable<Operations['registerAgent']['input']['capabilities']>,
      }),
      ...(values['endpoint-url'] !== undefined && { endpoint_url: values['endpoint-url'] }),
    })
    const { agent_id, slug, api_key } = registered
    await changeProfile(settings.path, settings.profileName, (profile) => ({
      api_url: apiUrl,
      ...profile,
      agent: { api_url: apiUrl, api_key, agent_id, name },
    }))
    const agent = await finishRegistration({ apiUrl, apiKey: api_key, user }, payoutChanges(values))
    return {
      json: {
        profile: settings.profileName,
        agent_id,
        slug,
        marketable: agent.marketable,
        payable_on: agent.payable_on,
        wallet: registered.wallet.solana_address,
        ...(values['show-key'] && { api_key, webhook_secret: registered.webhook_secret }),
      },
      print: (printer) => {
        printer.text(`Registered ${name} (${agent_id}). Its API key is in ${settings.path}.`)
        if (values['show-key']) printer.fields([['API key', api_key]])
        if (agent.payable_on.length === 0) printer.next('market agent update --payout-address-base 0x…')
        else printer.next(agent.marketable ? 'market services create --help' : 'market agent link')
      },
    }
  },
})

interface Registration {
  readonly apiUrl: string
  readonly apiKey: string
  /** The client of the future owner. */
  readonly user: Market | undefined
}

async function finishRegistration(
  { apiUrl, apiKey, user }: Registration,
  changes: Changes,
): Promise<Pick<OwnAgent, 'marketable' | 'payable_on'>> {
  const market = new Market({ apiUrl, apiKey })
  try {
    // Before the agent has an owner, a payout address counts at once.
    if (Object.keys(changes).length > 0) await market.updateMyAgent(changes)
    if (user !== undefined) await user.linkAgent({ api_key: apiKey })
    return await market.getMyAgent()
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new CommandError(
      'registered_partly',
      `The agent is registered and its API key is stored, but the next step failed: ${message}`,
      'market agent',
    )
  }
}

const payoutChanges = (
  values: Readonly<Partial<Record<'payout-address-base' | 'payout-wallet', string | undefined>>>,
): Changes => ({
  ...(values['payout-address-base'] !== undefined && { payout_address_base: values['payout-address-base'] }),
  ...(values['payout-wallet'] !== undefined && { payout_wallet: values['payout-wallet'] }),
})

/** What can be shown of an agent: its own secrets are left out. */
function shownAgent({ webhook_secret: _, protocol_spec: __, ...agent }: OwnAgent): Result {
  const { pending_payout: pending } = agent
  return {
    json: agent,
    print: (printer) => {
      printer.fields([
        ['agent', `${agent.name} (${agent.id})`],
        ['about', agent.description],
        ['visible', agent.marketable ? 'yes' : { text: 'no, it has no owner', style: 'yellow' }],
        ['paid on', agent.payable_on.join(', ') || { text: 'nothing yet', style: 'yellow' }],
        ['Base', agent.payout_address_base],
        ['Solana', agent.payout_wallet ?? 'its own wallet'],
        ...(pending === null
          ? []
          : [['change', `payout settings change at ${pending.effective_at}`] as const]),
        ['webhooks', agent.endpoint_url ?? 'none'],
        ['orders', `${agent.completed_orders} completed of ${agent.total_orders}`],
        ['rating', agent.avg_rating],
      ])
      if (!agent.marketable) printer.next('market agent link')
      else if (agent.payable_on.length === 0) printer.next('market agent update --payout-address-base 0x…')
    },
  }
}

export const showAgent = command({
  name: 'agent',
  summary: 'Show your agent',
  run: async (_, session) => shownAgent(await session.signedIn('agent').market.getMyAgent()),
})

export const updateAgent = command({
  name: 'agent update',
  summary: 'Change your agent',
  options: {
    name: { type: 'string', value: 'name', about: 'a new name, at most once in 7 days' },
    description: { type: 'string', value: 'text', about: 'what the agent does' },
    ...PAYOUT_OPTIONS,
  },
  notes: ['Payout settings of an agent with an owner change after 24 hours.'],
  run: async ({ values }, session) => {
    const changes: Changes = {
      ...payoutChanges(values),
      ...(values.name !== undefined && { name: values.name }),
      ...(values.description !== undefined && { description: values.description }),
      ...(values['endpoint-url'] !== undefined && { endpoint_url: values['endpoint-url'] }),
    }
    if (Object.keys(changes).length === 0)
      throw new UsageError('Nothing to change. Pass one of the options.', 'market agent update --help')
    return shownAgent(await session.signedIn('agent').market.updateMyAgent(changes))
  },
})

export const linkAgent = command({
  name: 'agent link',
  summary: 'Make the logged-in user the owner of your agent, which makes it visible',
  run: async (_, { settings, signedIn }) => {
    const user = signedIn('user').market
    const key = settings.credential('agent')
    if (key === undefined) throw missingCredential(['agent'], settings)
    const agent = await user.linkAgent({ api_key: key.secret })
    return {
      json: { agent_id: agent.id, name: agent.name, marketable: agent.marketable },
      print: (printer) => {
        printer.text(`You own ${agent.name} (${agent.id}). Buyers can find it.`)
        printer.next('market services create --help')
      },
    }
  },
})
