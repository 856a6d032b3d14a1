import { closestName } from '@market/contract/closest-name'
import { readEnvironment } from '@market/platform/settings/environment'
import { rejectUnknownSettings } from '@market/platform/settings/unknown'
import { workerSettings } from '@market/platform/settings/worker'
import { z } from 'zod'
import { checkPayoutSenderSettings } from './payout-sender-settings.ts'

const Env = z.object(workerSettings).superRefine(checkPayoutSenderSettings)

export type Config = Readonly<z.infer<typeof Env>>

/** Reads the environment of the program. Commands read their own. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  rejectUnknownSettings(env, closestName)
  return readEnvironment(Env, env)
}
