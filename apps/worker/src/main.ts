import { readConfig } from './config.ts'
import { startApp } from './start-app.ts'

const app = await startApp(readConfig(process.env))
app.log.info({ address: app.address }, 'working')

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

// An engine that gives up by itself is started anew by whoever runs this process.
app.ended.catch((error) => {
  app.log.fatal({ err: error }, 'cannot go on')
  process.exit(1)
})
