import { readConfig } from './config.ts'
import { startApp } from './start-app.ts'

const app = await startApp(readConfig(process.env))
app.log.info({ address: app.address }, 'worker started')

let stopping = false
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, async () => {
    if (stopping) process.exit(1)
    stopping = true
    app.log.info({ signal }, 'stopping')
    await app.stop()
    process.exit(0)
  })
}

// When graphile-worker shuts down by itself, exit: the process manager starts a new process.
app.ended.catch((error) => {
  app.log.fatal({ err: error }, 'worker failed')
  process.exit(1)
})
