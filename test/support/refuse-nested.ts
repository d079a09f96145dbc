import { refuseNestedConnections } from '../../sql/database/nested-connections.ts';

refuseNestedConnections();
