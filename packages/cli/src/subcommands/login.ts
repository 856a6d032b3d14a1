import { Market } from '@market/sdk'
import { command, type Result } from '../command.ts'
import type { Session } from '../session.ts'
import { changeProfile, type Profile } from '../settings/config-file.ts'
import { discoverLogin } from '../settings/discover-login.ts'
import { API_KEY_PREFIX, isApiKey } from '../settings/settings.ts'
import { UsageError } from '../usage-error.ts'

export const login = command({
  name: 'login',
  summary: 'Log in as a user with a browser, or store the API key of an agent',
  options: {
    'api-key': { type: 'boolean', about: 'read an API key from stdin, or ask for it, and store it' },
    issuer: { type: 'string', value: 'url', about: 'another identity provider; stored in the profile' },
    'client-id': { type: 'string', value: 'id', about: 'another client of this program there; stored' },
    audience: { type: 'string', value: 'name', about: 'for whom the access token is issued; stored' },
    scopes: { type: 'string', value: 'list', about: 'the scopes to ask for; stored' },
  },
  notes: [
    'Without options, the API names its identity provider (GET /api/config).',
    'An API key is never an argument, because other users of the machine can read arguments.',
  ],
  examples: ['market login', 'market login --api-key < key.txt'],
  run: async ({ values }, session) =>
    values['api-key'] ? storeApiKey(session) : loginAsUser(values, session),
})

async function storeApiKey(session: Session): Promise<Result> {
  const { settings, terminal, printer } = session
  const apiUrl = settings.apiUrl()
  const typed = terminal.inputIsTerminal
    ? await terminal.readHidden(() => printer.note('API key (it is not shown): ', 'plain'))
    : await terminal.readInput()
  const apiKey = typed.trim()
  if (!isApiKey(apiKey))
    throw new UsageError(
      `That is not the API key of an agent, which begins with ${API_KEY_PREFIX}.`,
      'market login --api-key',
    )
  const { id, name, marketable } = await new Market({ apiUrl, apiKey, retries: 2 }).getMyAgent()
  const agent = { api_url: apiUrl, api_key: apiKey, agent_id: id, name }
  await changeProfile(settings.path, settings.profileName, (profile) => ({
    ...withUrl(profile, apiUrl),
    agent,
  }))
  return {
    json: { profile: settings.profileName, api_url: apiUrl, agent_id: id, name },
    print: (printer) => {
      printer.text(`Stored the API key of ${name} (${id}) for ${apiUrl}.`)
      printer.next(marketable ? 'market orders' : 'market doctor')
    },
  }
}

async function loginAsUser(
  values: {
    issuer: string | undefined
    'client-id': string | undefined
    audience: string | undefined
    scopes: string | undefined
  },
  session: Session,
): Promise<Result> {
  const { settings, printer } = session
  const apiUrl = settings.apiUrl()
  const given: Profile = {
    ...(values.issuer !== undefined && { issuer: values.issuer }),
    ...(values['client-id'] !== undefined && { client_id: values['client-id'] }),
    ...(values.audience !== undefined && { audience: values.audience }),
    ...(values.scopes !== undefined && { scopes: values.scopes }),
  }
  // A token of the profile's identity provider is for the profile's API: another API must not get it.
  const isOther = settings.isOtherApi()
  // Only a login needs the library of identity providers.
  const { loginByDevice, readLoginSettings } = await import('../settings/device-login.ts')
  const chosen = isOther ? given : { ...settings.profile, ...given }
  const loginSettings = readLoginSettings(await discoverLogin(apiUrl, chosen))
  const { accessToken, expiresAt } = await session.during('Waiting for your browser …', () =>
    loginByDevice(
      loginSettings,
      ({ url, code }) => printer.note(`Open ${url}\nand confirm the code ${code}. Waiting …`, 'plain'),
      session.signal,
    ),
  )
  const token = { apiUrl, token: accessToken, retries: 2 }
  const { user, is_new } = await new Market(token).signIn()
  const stored = { api_url: apiUrl, access_token: accessToken, expires_at: expiresAt.toISOString() }
  await changeProfile(settings.path, settings.profileName, (profile) => ({
    ...withUrl(profile, apiUrl),
    ...(!isOther && given),
    login: stored,
  }))
  const name = user.display_name ?? user.username ?? user.idp_user_id
  return {
    json: { profile: settings.profileName, api_url: apiUrl, user, is_new, expires_at: stored.expires_at },
    print: (printer) => {
      printer.text(`Logged in to ${apiUrl} as ${name} until ${stored.expires_at}.`)
      printer.next(settings.profile.agent === undefined ? 'market services' : 'market whoami')
    },
  }
}

/** A profile without an API takes the one of its first login. */
const withUrl = (profile: Profile, apiUrl: string): Profile => ({ api_url: apiUrl, ...profile })

export const logout = command({
  name: 'logout',
  summary: 'Remove the stored login and API key of the profile',
  options: {
    'keep-agent': { type: 'boolean', about: 'remove the login of the user only' },
  },
  notes: [
    'The API key of an agent is shown once. Without a copy, only the owner of the agent gets a new one.',
  ],
  run: async ({ values }, { settings }) => {
    const { agent, login: user } = settings.profile
    await changeProfile(settings.path, settings.profileName, ({ agent: key, login: _, ...rest }) => ({
      ...rest,
      ...(values['keep-agent'] && key !== undefined && { agent: key }),
    }))
    const removed = [
      ...(user === undefined ? [] : ['login']),
      ...(agent === undefined || values['keep-agent'] ? [] : ['api_key']),
    ]
    return {
      json: { profile: settings.profileName, removed },
      print: (printer) =>
        printer.text(
          removed.length === 0
            ? `Profile ${settings.profileName} has no credentials.`
            : `Removed from profile ${settings.profileName}: ${removed.join(', ').replace('api_key', 'API key')}.`,
        ),
    }
  },
})

export const whoami = command({
  name: 'whoami',
  summary: 'Show the agent and the user of the credentials',
  run: async (_, session) => {
    const { settings } = session
    const [hasAgent, hasUser] = [settings.credential('agent'), settings.credential('user')]
    if (hasAgent === undefined && hasUser === undefined) session.signedIn('agent', 'user')
    const agent = hasAgent && (await session.signedIn('agent').market.getMyAgent())
    const profile = hasUser && (await session.signedIn('user').market.getProfile())
    const json = {
      profile: settings.profileName,
      api_url: settings.apiUrl(),
      agent: agent && {
        id: agent.id,
        name: agent.name,
        slug: agent.slug,
        marketable: agent.marketable,
        payable_on: agent.payable_on,
        credential: hasAgent?.source,
      },
      user: profile && { ...profile.user, credential: hasUser?.source },
    }
    return {
      json,
      print: (printer) =>
        printer.fields([
          ['profile', settings.profileName],
          ['api', settings.apiUrl()],
          ...(agent ? ([['agent', `${agent.name} (${agent.id}), by ${hasAgent?.source}`]] as const) : []),
          ...(profile
            ? ([
                [
                  'user',
                  `${profile.user.display_name ?? profile.user.username ?? profile.user.idp_user_id}, by ${hasUser?.source}`,
                ],
              ] as const)
            : []),
        ]),
    }
  },
})
