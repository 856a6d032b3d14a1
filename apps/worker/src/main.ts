import { readConfig } from './config.ts'
import { startHouse } from './house.ts'

const house = await startHouse(readConfig(process.env))
house.log.info({ address: house.address }, 'working')

let stopping = false
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, async () => {
    if (stopping) process.exit(1)
    stopping = true
    house.log.info({ signal }, 'stopping')
    await house.stop()
    process.exit(0)
  })
}

// An engine that gives up by itself is started anew by whoever runs this process.
house.ended.catch((error) => {
  house.log.fatal({ err: error }, 'cannot go on')
  process.exit(1)
})
