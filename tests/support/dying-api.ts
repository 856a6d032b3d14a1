import { onTestFinished } from 'vitest'
import { startCommitProxy } from './commit-proxy.ts'
import { throughProxy } from './parts.ts'
import { startApi } from './processes.ts'

/**
 * An api process that is killed at its next COMMIT after an insert into `table`: `before` Postgres has it, or `after`, when it is
 * durable and the api does not know it yet. `killed` resolves when the process has ended.
 */
export async function startDyingApi(
  environment: Readonly<Record<string, string>>,
  moment: 'before' | 'after',
  table: string,
) {
  const databaseUrl = environment['DATABASE_URL'] ?? ''
  const { hostname, port } = new URL(databaseUrl)
  const proxy = await startCommitProxy({ host: hostname, port: Number(port || 5432) })
  onTestFinished(() => proxy.stop())
  const api = await startApi({ ...environment, DATABASE_URL: throughProxy(databaseUrl, proxy.port) })
  onTestFinished(() => api.stop())
  const killed = proxy.holdCommit(moment, table).then(() => {
    api.kill('SIGKILL')
    return api.exited
  })
  return { url: api.url, killed }
}
