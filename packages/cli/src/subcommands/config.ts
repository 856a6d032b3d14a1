import { readApiUrl } from '@market/contract/api-url'
import { closestName } from '@market/contract/closest-name'
import { command } from '../command.ts'
import { changeProfile, loadConfig, SETTINGS, type SettingName, saveConfig } from '../settings/config-file.ts'
import { UsageError } from '../usage-error.ts'

const NAMES = Object.keys(SETTINGS)

function settingName(text: string): SettingName {
  if (Object.hasOwn(SETTINGS, text)) return text as SettingName
  const similar = closestName(text, NAMES)
  const hint = similar === undefined ? '' : ` Did you mean ${similar}?`
  throw new UsageError(
    `Unknown setting: ${text}.${hint} The settings are ${NAMES.join(', ')}.`,
    'market config',
  )
}

export const showConfig = command({
  name: 'config',
  summary: 'Show the settings of every profile, without secrets',
  run: async (_, { settings: { path, config } }) => {
    const profiles = Object.fromEntries(
      Object.entries(config.profiles).map(([name, { agent, login, ...rest }]) => [
        name,
        {
          ...rest,
          agent: agent && { api_url: agent.api_url, agent_id: agent.agent_id, name: agent.name },
          login: login && { api_url: login.api_url, expires_at: login.expires_at },
        },
      ]),
    )
    return {
      json: { path, profile: config.profile, profiles },
      print: (printer) => {
        const rows = Object.entries(profiles).map(([name, one]) => [
          name === config.profile ? `${name} *` : name,
          one.api_url,
          one.agent?.name,
          one.login && `until ${one.login.expires_at}`,
        ])
        if (rows.length > 0)
          printer.table(
            [
              { title: 'PROFILE' },
              { title: 'API', shrinks: true },
              { title: 'AGENT', shrinks: true },
              { title: 'LOGIN', shrinks: true },
            ],
            rows,
          )
        else printer.text('No profile has settings yet.')
        printer.text(`\n${path}`, 'dim')
        if (rows.length === 0) printer.next('market config set api_url https://api.example')
      },
    }
  },
})

export const setConfig = command({
  name: 'config set',
  summary: 'Store a setting in the profile',
  parameters: ['setting', 'value'],
  notes: [
    `Settings:\n${Object.entries(SETTINGS)
      .map(([name, about]) => `  ${name.padEnd(10)} ${about}`)
      .join('\n')}`,
  ],
  examples: [
    'market config set api_url https://api.example',
    'market config set api_url http://localhost:4000 --profile dev',
  ],
  run: async ({ parameters: [given = '', text = ''] }, { settings }) => {
    const name = settingName(given)
    let value = text
    if (name === 'api_url') {
      const api = readApiUrl('api_url', text)
      if ('problem' in api) throw new UsageError(api.problem, 'market config set api_url https://api.example')
      value = api.origin
    }
    await changeProfile(settings.path, settings.profileName, (profile) => ({ ...profile, [name]: value }))
    return {
      json: { profile: settings.profileName, [name]: value },
      print: (printer) => {
        printer.text(`${name} of profile ${settings.profileName} is ${value}`)
        if (name === 'api_url') printer.next('market doctor')
      },
    }
  },
})

export const unsetConfig = command({
  name: 'config unset',
  summary: 'Remove a setting from the profile',
  parameters: ['setting'],
  run: async ({ parameters: [given = ''] }, { settings }) => {
    const name = settingName(given)
    await changeProfile(settings.path, settings.profileName, ({ [name]: _, ...rest }) => rest)
    return {
      json: { profile: settings.profileName, [name]: null },
      print: (printer) => printer.text(`${name} of profile ${settings.profileName} is removed.`),
    }
  },
})

export const useProfile = command({
  name: 'config use',
  summary: 'Use another profile from now on',
  parameters: ['profile'],
  run: async ({ parameters: [name = ''] }, { settings }) => {
    const config = await loadConfig(settings.path)
    if (!Object.hasOwn(config.profiles, name)) {
      const similar = closestName(name, Object.keys(config.profiles))
      throw new UsageError(
        `There is no profile ${name}.${similar === undefined ? '' : ` Did you mean ${similar}?`}`,
        `market config set api_url https://api.example --profile ${name}`,
      )
    }
    await saveConfig(settings.path, { ...config, profile: name })
    return {
      json: { profile: name },
      print: (printer) => printer.text(`Profile ${name} is used from now on.`),
    }
  },
})
