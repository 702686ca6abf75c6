package cluster

import (
	"fmt"
	"strings"
)

const controllerPort = 9093

// addBroker adds the nth of several brokers, each a controller too. With three, a record that is acknowledged is on
// two, and one broker may be away.
func (c *Cluster) addBroker(n, brokers int) {
	var voters []string
	for id := range brokers {
		voters = append(voters, fmt.Sprintf("%d@%s4%d:%d", id+1, network, id+1, controllerPort))
	}
	insync := (brokers + 1) / 2
	name := fmt.Sprintf("kafka-%d", n)
	c.nodes = append(c.nodes, &Node{
		Name: name, Kind: "kafka", Address: fmt.Sprintf("%s4%d", network, n), Port: 9092, Dir: c.dirOf(name),
		settings: []string{
			fmt.Sprintf("node.id=%d", n),
			"controller.quorum.voters=" + strings.Join(voters, ","),
			"metadata.log.dir=metadata",
			fmt.Sprintf("default.replication.factor=%d", brokers),
			fmt.Sprintf("min.insync.replicas=%d", insync),
			fmt.Sprintf("offsets.topic.replication.factor=%d", brokers),
			"offsets.topic.num.partitions=3",
			fmt.Sprintf("transaction.state.log.replication.factor=%d", brokers),
			fmt.Sprintf("transaction.state.log.min.isr=%d", insync),
			fmt.Sprintf("share.coordinator.state.topic.replication.factor=%d", brokers),
			fmt.Sprintf("share.coordinator.state.topic.min.isr=%d", insync),
			"broker.session.timeout.ms=3000",
		},
	})
}
