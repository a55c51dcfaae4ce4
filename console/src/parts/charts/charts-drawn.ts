/** What draws charts, with its styles: loaded when the first chart is looked at. */

import '@mantine/charts/styles.css';

export { BarChart, LineChart } from '@mantine/charts';
