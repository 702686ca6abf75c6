//go:build linux

package cluster

import (
	"context"
	"fmt"
	"strings"

	"github.com/segmentio/kafka-go"
)

// ports of Kafka.
const brokerPort, controllerPort = 9092, 9093

// addBrokers adds brokers that are controllers too. Of three, two have an acknowledged record, and one may be away.
func (c *Cluster) addBrokers(brokers int) {
	var voters []string
	for n := range brokers {
		voters = append(voters, fmt.Sprintf("%d@%s4%d:%d", n+1, network, n+1, controllerPort))
	}
	insync := (brokers + 1) / 2
	for n := range brokers {
		node := c.add("kafka", fmt.Sprintf("kafka-%d", n+1), fmt.Sprintf("4%d", n+1), brokerPort)
		node.settings = []string{
			fmt.Sprintf("node.id=%d", n+1),
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
			"group.initial.rebalance.delay.ms=1000", // members of a new group start together
		}
	}
}

// InSync reports whether every broker has all records. Before that the loss of another broker may stop appends.
func (c *Cluster) InSync(ctx context.Context) bool {
	transport := &kafka.Transport{} // without what an earlier question has left in its cache
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: kafka.TCP(c.Addresses("kafka")...), Transport: transport}
	metadata, err := client.Metadata(ctx, &kafka.MetadataRequest{})
	if err != nil {
		return false
	}
	for _, topic := range metadata.Topics {
		for _, p := range topic.Partitions {
			if len(p.Isr) < len(c.Nodes("kafka")) {
				return false
			}
		}
	}
	return len(metadata.Topics) > 0
}
