export { rollUpStatistics } from './roll-up.ts'
export { changesBetween, type StatisticChange, type Statistics } from './statistic.ts'
export {
  addStatistics,
  findBacklog,
  findLeaders,
  insertChanges,
  readStatistics,
  type StatisticsBacklog,
} from './store.ts'
